#include "formats/MscclExport.h"

#include "formats/MscclBlocks.h"
#include "formats/MscclOrder.h"
#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::msccl {
namespace {

Result<Signature> describe(const Schedule &schedule, const Chunks &chunks) {
  for (const Buffer &buffer :
       schedule.ranks.empty() ? std::vector<Buffer>() : schedule.ranks[0].buffers)
    if (buffer.layout != Layout::Dense)
      return Status::error(concat("MSCCL XML cannot say ", spelling(buffer.role), " ",
                                  schedule.nameOf(buffer),
                                  ", whose blocks have lengths of their own"));
  return signatureOf(schedule, chunks);
}

/// Nodes with levels. If fused steps would wait for themselves, none are fused.
Result<Nodes> orderedNodes(const Schedule &schedule, const Chunks &chunks) {
  Result<Nodes> nodes = makeNodes(schedule, chunks, /*fuses=*/true);
  if (!nodes)
    return nodes.status();
  assignChannels(*nodes, 1);
  if (assignLevels(*nodes))
    return nodes;
  nodes = makeNodes(schedule, chunks, /*fuses=*/false);
  assignChannels(*nodes, 1);
  if (assignLevels(*nodes))
    return nodes;
  auto stuck = std::ranges::find(nodes->nodes, UINT32_MAX, &Node::level);
  return refuseOp(schedule, stuck->rank, stuck->op, "a step that no order of messages lets begin",
                  "`colldsl verify` shows who waits for whom");
}

/// All threadblocks, with the messages of each pair of ranks on so many channels.
Status write(const Schedule &schedule, const Signature &signature, Nodes nodes,
             uint32_t channelsPerBlock, Algorithm &algorithm) {
  algorithm.gpus.clear();
  algorithm.channels = assignChannels(nodes, channelsPerBlock);
  if (algorithm.channels > kMaxChannels)
    return Status::error(
        concat("the messages take ", algorithm.channels, " channels, the limit is ", kMaxChannels));
  assignLevels(nodes);
  std::vector<std::vector<BlockPlan>> plans;
  std::vector<Placement> placements;
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    plans.push_back(planBlocks(schedule, nodes, r));
    placements.emplace_back(schedule, signature, nodes, r);
  }
  for (uint32_t r = 0; r < schedule.numRanks(); ++r) {
    Result<Gpu> gpu = writeBlocks(schedule, nodes, r, plans[r], placements);
    if (!gpu)
      return gpu.status();
    gpu->inputChunks = signature.inputChunks;
    gpu->outputChunks = signature.outputChunks;
    algorithm.gpus.push_back(gpu.take());
  }
  return {};
}

} // namespace

Result<Algorithm> fromSchedule(const Schedule &schedule) {
  Result<Chunks> chunks = Chunks::of(schedule);
  if (!chunks)
    return chunks.status();
  Result<Signature> signature = describe(schedule, *chunks);
  if (!signature)
    return signature.status();
  Result<Nodes> nodes = orderedNodes(schedule, *chunks);
  if (!nodes)
    return nodes.status();
  Algorithm algorithm;
  algorithm.name = schedule.name;
  algorithm.collective = signature->collective;
  algorithm.chunksPerLoop = signature->chunksPerLoop;
  algorithm.inPlace = signature->inPlace;
  algorithm.outOfPlace = !signature->inPlace;
  if (algorithm.collective == Collective::Broadcast || algorithm.collective == Collective::Reduce)
    algorithm.root = static_cast<int32_t>(signature->root);
  Status status;
  for (uint32_t channelsPerBlock = 1; channelsPerBlock <= kMaxChannels; channelsPerBlock *= 2) {
    Status written = write(schedule, *signature, *nodes, channelsPerBlock, algorithm);
    if (written)
      return algorithm;
    if (status)
      status = written;
  }
  return status;
}

} // namespace colldsl::msccl
