/// Part of the fifth proof: of a block of capacity nothing is written beyond the length that it has
/// in the end.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"
#include "verifier/State.h"

namespace colldsl::proof {

/// `state`: at exit. Where the lengths of blocks are any, it is told what that does not decide.
void checkBlockTails(const Model &model, const Placement &placement, State &state,
                     const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
