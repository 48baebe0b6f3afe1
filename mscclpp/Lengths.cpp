#include "mscclpp/Lengths.h"

#include "ir/Concat.h"

#include <algorithm>
#include <numeric>

namespace colldsl::mscclpp {
namespace {

constexpr uint64_t kReusedScratchBytes = uint64_t{1} << 26; ///< with reuse_resources
constexpr uint32_t kLongestPipeline = 3, kMostWrapped = 100;
constexpr uint32_t kMostSlices = 1 << 12;

struct Findings {
  uint64_t slices = 1; ///< of a chunk
  uint64_t unitBytes = 0;
  bool scratchOutsidePipelines = false;
  bool sumsOfScratch = false; ///< in pipelines, where the executor does not wrap
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
    found.sumsOfScratch |= (member.kind == OpKind::Reduce || member.kind == OpKind::ReduceSend) &&
                           usesScratch(member.sources, 1);
  return {};
}

} // namespace

Result<Lengths> lengthsOf(const Plan &plan) {
  Findings found;
  uint32_t scratchChunks = 0;
  for (const Gpu &gpu : plan.gpus) {
    scratchChunks = std::max(scratchChunks, gpu.scratchChunks);
    for (const ThreadBlock &block : gpu.threadBlocks)
      for (const Op &op : block.ops)
        if (Status s = look(op, found); !s)
          return s;
  }
  Lengths made;
  auto slices = static_cast<uint32_t>(found.slices);
  uint64_t scratch = ~0ULL; // bytes of a chunk of scratch that is shared by all messages
  if (plan.reusesResources && scratchChunks > 0) {
    uint64_t each =
        ((kReusedScratchBytes >> (plan.doubleScratch ? 1 : 0)) + scratchChunks - 1) / scratchChunks;
    scratch = (each + plan.alignment - 1) / plan.alignment * plan.alignment;
  }
  if (found.unitBytes == 0) {
    made.cases.push_back({slices, ~0U});
    made.words = concat("chunks of any multiple of ", found.slices * plan.alignment, " bytes");
    if (scratch != ~0ULL)
      made.words += concat(" up to ", scratch);
    return made;
  }
  uint32_t last = kLongestPipeline * slices;
  for (uint32_t n = slices; n <= last; n += slices)
    made.cases.push_back({n, ~0U});
  uint64_t units = scratch / found.unitBytes;
  if (scratch != ~0ULL && scratch % found.unitBytes == 0 && slices == 1 && units <= kMostWrapped &&
      !found.scratchOutsidePipelines && !found.sumsOfScratch) {
    for (auto &counts : made.cases)
      counts.perScratchChunk = static_cast<uint32_t>(units);
    for (uint64_t n = std::max<uint64_t>(last + 1, units); n <= units + 2; ++n)
      made.cases.push_back({static_cast<uint32_t>(n), static_cast<uint32_t>(units)});
    last = made.cases.back().perChunk;
    made.words = concat("chunks of 1 to ", kLongestPipeline, " and of ", units, " to ", last,
                        " units of ", found.unitBytes, " bytes");
    return made;
  }
  while (made.cases.size() > 1 && made.cases.back().perChunk > units)
    made.cases.pop_back();
  made.words = concat("chunks of ", slices, " to ", made.cases.back().perChunk, " units of ",
                      found.unitBytes, " bytes");
  return made;
}

} // namespace colldsl::mscclpp
