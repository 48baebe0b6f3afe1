/// Part of the fifth proof: no op names bytes outside its buffers, or buffers that
/// are not there.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

void checkBounds(const Model &model, const Placement &placement, const DiagnosticNames &names,
                 Failures &failures);

} // namespace colldsl::proof
