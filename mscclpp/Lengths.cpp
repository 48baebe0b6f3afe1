#include "mscclpp/Lengths.h"

#include "ir/Concat.h"
#include "mscclpp/PlanLayout.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mscclpp {
namespace {

constexpr uint32_t kLongestPipeline = 3, kMostWrapped = 100;
constexpr uint32_t kMostSlices = 1 << 12;
constexpr uint64_t kMostUnits = 10000; ///< of a chunk, see kMostEvents

struct Findings {
  uint64_t slices = 1; ///< of a chunk
  uint64_t unitBytes = 0;
  uint64_t scratchBytes = ~0ULL; ///< of a chunk of scratch that is shared by all messages
  bool scratchOutsidePipelines = false;
  bool unevenSums = false; ///< in pipelines: the executor wraps sources by the kind of targets
};

bool usesScratch(const std::vector<ChunkRange> &ranges, size_t first = 0) {
  return std::any_of(ranges.begin() + static_cast<ptrdiff_t>(std::min(first, ranges.size())),
                     ranges.end(),
                     [](const ChunkRange &range) { return range.buffer == Buffer::Scratch; });
}

Status look(const Op &op, Findings &found) {
  found.slices = std::lcm(found.slices, uint64_t{op.slices});
  if (found.slices > kMostSlices)
    return Status::error(
        concat("plan: tbg_info divides chunks into more than ", kMostSlices, " parts"));
  if (op.kind != OpKind::Pipeline) {
    found.scratchOutsidePipelines |= usesScratch(op.sources) || usesScratch(op.destinations);
    return {};
  }
  if (found.unitBytes != 0 && found.unitBytes != op.unitBytes)
    return Status::error(concat("plan: pipelines with unit_size ", found.unitBytes, " and ",
                                op.unitBytes, ": plans with one unit are proved"));
  found.unitBytes = op.unitBytes;
  for (const Op &member : op.members)
    found.unevenSums |= (member.kind == OpKind::Reduce && usesScratch(member.sources, 1)) ||
                        (member.kind == OpKind::ReduceSend && member.sources.size() > 1);
  return {};
}

/// In the longest message that the plan takes.
uint64_t longestChunk(const Plan &plan) {
  const Gpu &gpu = plan.gpus.front();
  return plan.maxBytes / (plan.collective == "allgather" ? gpu.outputChunks : gpu.inputChunks);
}

Result<Findings> look(const Plan &plan) {
  Findings found;
  uint32_t scratchChunks = 0;
  for (const Gpu &gpu : plan.gpus) {
    scratchChunks = std::max(scratchChunks, gpu.scratchChunks);
    for (const ThreadBlock &block : gpu.threadBlocks)
      for (const Op &op : block.ops)
        if (Status s = look(op, found); !s)
          return s;
  }
  if (plan.reusesResources && scratchChunks > 0)
    found.scratchBytes = reusedScratchChunkBytes(plan, scratchChunks);
  return found;
}

} // namespace

Result<Lengths> lengthsOf(const Plan &plan) {
  Result<Findings> findings = look(plan);
  if (!findings)
    return findings.status();
  const Findings &found = *findings;
  Lengths made;
  auto slices = static_cast<uint32_t>(found.slices);
  uint64_t scratch = found.scratchBytes;
  if (found.unitBytes == 0) {
    made.cases.push_back({slices, ~0U});
    made.words = concat("chunks of any multiple of ", found.slices * plan.alignment, " bytes");
    if (scratch != ~0ULL)
      made.words += concat(" up to ", scratch);
    return made;
  }
  uint64_t most = longestChunk(plan) / found.unitBytes;
  uint64_t wrap = scratch / found.unitBytes;
  bool wraps = scratch != ~0ULL && scratch % found.unitBytes == 0 && slices == 1 &&
               wrap <= kMostWrapped && !found.scratchOutsidePipelines && !found.unevenSums;
  uint32_t perScratchChunk = wraps ? static_cast<uint32_t>(wrap) : ~0U;
  for (uint64_t n = slices; n <= kLongestPipeline * uint64_t{slices}; n += slices)
    if (n == slices || (n <= most && (wraps || n <= wrap)))
      made.cases.push_back({static_cast<uint32_t>(n), perScratchChunk});
  made.words = concat("chunks of ", slices, " to ", made.cases.back().perChunk);
  uint64_t first = std::max<uint64_t>(made.cases.back().perChunk + 1, wrap), last = 0;
  for (uint64_t n = first; wraps && n <= std::min(most, wrap + 2); ++n) {
    made.cases.push_back({static_cast<uint32_t>(last = n), perScratchChunk});
  }
  if (last > 0)
    made.words += concat(" and of ", first, " to ", last);
  made.words += concat(" units of ", found.unitBytes, " bytes");
  made.unitBytes = found.unitBytes;
  return made;
}

Result<CellCounts> cellsOf(const Plan &plan, uint64_t chunkBytes) {
  Result<Findings> found = look(plan);
  if (!found)
    return found.status();
  if (found->unitBytes == 0)
    return CellCounts{static_cast<uint32_t>(found->slices), ~0U};
  uint64_t units = std::max<uint64_t>((chunkBytes + found->unitBytes - 1) / found->unitBytes, 1);
  units = (units + found->slices - 1) / found->slices * found->slices;
  if (units > kMostUnits)
    return Status::error(concat("plan: chunks of ", chunkBytes, " bytes have ", units, " units of ",
                                found->unitBytes, ", plans with up to ", kMostUnits,
                                " are simulated and drawn"));
  bool wraps = found->scratchBytes != ~0ULL && found->scratchBytes >= found->unitBytes &&
               !found->scratchOutsidePipelines;
  return CellCounts{static_cast<uint32_t>(units),
                    wraps ? static_cast<uint32_t>(found->scratchBytes / found->unitBytes) : ~0U};
}

std::string Lengths::wordsOf(const CellCounts &counts) const {
  return unitBytes == 0 ? words
                        : concat("chunks of ", counts.perChunk, " unit",
                                 counts.perChunk == 1 ? "" : "s", " of ", unitBytes, " bytes");
}

} // namespace colldsl::mscclpp
