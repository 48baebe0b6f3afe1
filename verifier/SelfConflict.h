/// Part of the third proof: ops whose own slices conflict, as in a list that writes a byte twice,
/// or a copy whose source and target overlap in part.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

void checkSelfConflicts(const Model &model, const Placement &placement,
                        const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
