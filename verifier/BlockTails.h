/// Part of the fifth proof: no op writes a block of capacity beyond its final length.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"
#include "verifier/State.h"

namespace colldsl::proof {

/// `state`: at exit. In a proof of all lengths it learns which blocks are undecided.
void checkBlockTails(const Model &model, const Placement &placement, State &state,
                     const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
