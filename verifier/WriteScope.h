/// Part of the fifth proof: parameters are written only where an `ensures` speaks of them, and `in`
/// parameters never.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

void checkWriteScope(const Model &model, const Placement &placement, const DiagnosticNames &names,
                     Failures &failures);

} // namespace colldsl::proof
