/// The failures of a proof as messages.
#pragma once

#include "verifier/Verifier.h"

namespace colldsl::driver {

/// The counterexample for people: each failure, with its steps as notes.
std::vector<Diagnostic> counterexample(const proof::VerifyReport &report);

} // namespace colldsl::driver
