/// Part of the third proof: an op whose own slices are in each other's way, a list that
/// writes a byte twice, or a copy whose source and target overlap partly.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

void checkSelfConflicts(const Model &model, const Placement &placement,
                        const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
