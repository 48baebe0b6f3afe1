/// Part of the third proof: an op whose own slices are in each other's way, a list that
/// writes a byte twice, or a copy whose source and target overlap partly.
#pragma once

#include "verifier/Failures.h"
#include "verifier/Words.h"

namespace colldsl::proof {

void checkSelfConflicts(const Model &model, const Placement &placement, const Words &words,
                        Failures &failures);

} // namespace colldsl::proof
