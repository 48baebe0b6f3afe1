/// Part of the fifth proof: parameters are written only where an `ensures` speaks of
/// them, and `in` parameters never.
#pragma once

#include "verifier/Failures.h"
#include "verifier/Words.h"

namespace colldsl::proof {

void checkWriteScope(const Model &model, const Placement &placement, const Words &words,
                     Failures &failures);

} // namespace colldsl::proof
