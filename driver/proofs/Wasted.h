/// Warnings about operations and messages that no postcondition needs.
#pragma once

#include "driver/proofs/ProofSummary.h"

namespace colldsl::driver {

/// Warnings for the files that were named: operations that no proof needs, and rounds if fewer
/// would do in each proof. Empty if a proof failed.
std::vector<Diagnostic> warningsOfWaste(const Summary &summary, const Source &source);

} // namespace colldsl::driver
