/// Temporaries that only stand in for a parameter, for warnings.
///
/// A copy takes a whole temporary to bytes of a parameter that no other op of the rank touches.
/// Then the ops that fill the temporary could fill the parameter, if the same holds on all ranks
/// that use it. Example: recv t from 1; copy t to y.
#pragma once

#include "verifier/Placement.h"
#include "verifier/Verifier.h"

namespace colldsl::proof {

/// Counts such copies in the places of `waste`, which has all places of copies.
void findSpareTemporaries(const Model &model, const Placement &placement, Waste &waste);

} // namespace colldsl::proof
