/// One failed proof of a collective, as text and as JSON.
#pragma once

#include "driver/proofs/ProofSummary.h"

#include "llvm/Support/JSON.h"

namespace colldsl::tools {

/// Prints the counterexample of a task of the summary to the error stream: its ranks, size and
/// parameters, then the failures.
void printFailedProof(const driver::Summary &summary, size_t task, const driver::Source &source);

/// The counterexample as "ranks", "bytes", "inPlace", "parameters", "topology" and "text".
llvm::json::Object failedProofJson(const driver::Summary &summary, size_t task,
                                   const driver::Source &source);

} // namespace colldsl::tools
