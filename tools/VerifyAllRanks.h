/// `colldsl verify --all-ranks`: proofs for every number of ranks.
#pragma once

#include "driver/source/Source.h"
#include "tools/Commands.h"

namespace colldsl::tools {

/// Proves the collectives, each within so many seconds, and prints what was shown. Success: all of
/// them are proved.
Exit verifyAllRanks(const driver::Source &source, llvm::ArrayRef<driver::Source::Target> targets,
                    uint64_t seconds, bool json);

} // namespace colldsl::tools
