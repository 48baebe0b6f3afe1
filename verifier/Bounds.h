/// Part of the fifth proof: no op names bytes outside its buffers, or buffers that
/// are not there.
#pragma once

#include "verifier/Failures.h"
#include "verifier/Words.h"

namespace colldsl::proof {

void checkBounds(const Model &model, const Placement &placement, const Words &words,
                 Failures &failures);

} // namespace colldsl::proof
