/// Before the fourth proof: elements have the operators that combine them, and postconditions
/// compare elements of one type.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// `ownOperators`: VerifyOptions.
void checkElements(const Model &model, bool ownOperators, const DiagnosticNames &names,
                   Failures &failures);

} // namespace colldsl::proof
