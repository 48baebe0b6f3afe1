/// Warnings of operations and messages that no postcondition needs.
#pragma once

#include "tools/verify/ProofSummary.h"

namespace colldsl::tools {

/// Of the files that were named. An operation is reported if it has no use in any of the proofs,
/// rounds if in each proof fewer would do. Nothing if a proof failed.
std::vector<Diagnostic> warningsOfWaste(const Summary &summary, const Source &source);

} // namespace colldsl::tools
