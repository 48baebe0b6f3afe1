/// `colldsl verify --all-ranks`: proofs for every number of ranks.
#pragma once

#include "driver/requests/ProofRequest.h"
#include "driver/source/Source.h"
#include "tools/Commands.h"

namespace colldsl::tools {

struct AllRanksSettings {
  uint64_t seconds = 60;     ///< for each proof, and again for each search
  uint32_t upTo = 64;        ///< the largest number of ranks of a search; 0: none
  uint32_t mebibytes = 2048; ///< of the solver's memory
  std::string smtFolder;     ///< where the proofs are written; empty: nowhere
};

/// Proves the collectives and prints what was shown. For one that is not proved, prints the
/// counterexample with the fewest ranks, if a search by concrete proofs with the values of
/// `request` finds one. Success: all of them are proved, and
/// written.
Exit verifyAllRanks(driver::Source &source, llvm::ArrayRef<driver::Source::Target> targets,
                    const driver::ProofRequest &request, const AllRanksSettings &settings,
                    bool json);

} // namespace colldsl::tools
