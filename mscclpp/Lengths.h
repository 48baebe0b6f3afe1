/// The lengths of chunks for which a plan is proved.
#pragma once

#include "ir/Result.h"
#include "mscclpp/PlanMemory.h"

namespace colldsl::mscclpp {

struct Lengths {
  std::vector<CellCounts> cases;
  std::string words;      ///< "chunks of any multiple of 16 bytes"
  uint64_t unitBytes = 0; ///< of pipelines

  /// The words for one of the cases.
  std::string wordsOf(const CellCounts &counts) const;
};

/// Each element of a cell goes the same way, so a plan without pipelines has one case. A pipeline
/// has one per number of iterations, up to one that wraps around in scratch.
Result<Lengths> lengthsOf(const Plan &plan);

/// The cells of chunks of one length: the units of pipelines, or the parts that threadblocks serve.
Result<CellCounts> cellsOf(const Plan &plan, uint64_t chunkBytes);

} // namespace colldsl::mscclpp
