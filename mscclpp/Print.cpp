#include "mscclpp/FromAlgorithm.h"
#include "topology/JsonReader.h"

#include <algorithm>
#include <cassert>

namespace colldsl::mscclpp {
namespace {

std::string codeOf(Buffer buffer) { return std::string(1, spelling(buffer).front()); }

/// The buffers of other GPUs that a GPU writes or reads, in the order of their first use.
struct RemoteBuffers {
  std::vector<std::pair<uint32_t, Buffer>> all;

  size_t idOf(uint32_t gpu, Buffer buffer) {
    std::pair<uint32_t, Buffer> wanted(gpu, buffer);
    auto found = std::find(all.begin(), all.end(), wanted);
    if (found == all.end())
      found = all.insert(all.end(), wanted);
    return static_cast<size_t>(found - all.begin());
  }
};

/// The lists of a threadblock, to which its ops refer by position.
struct Lists {
  std::vector<uint32_t> channels;
  std::vector<size_t> buffers;

  template <typename T> static size_t positionIn(std::vector<T> &list, T value) {
    auto found = std::find(list.begin(), list.end(), value);
    if (found == list.end())
      found = list.insert(list.end(), value);
    return static_cast<size_t>(found - list.begin());
  }
};

Json rangesOf(const std::vector<ChunkRange> &ranges, uint32_t gpu, RemoteBuffers &remotes,
              Lists &lists) {
  Json made = Json::array();
  for (const ChunkRange &range : ranges) {
    assert(!range.isSwitch && "switches are not printed");
    Json one;
    if (range.gpus.front() == gpu)
      one["type"] = codeOf(range.buffer);
    else
      one["buffer_id"] =
          Lists::positionIn(lists.buffers, remotes.idOf(range.gpus.front(), range.buffer));
    one["index"] = range.index;
    one["size"] = range.size;
    made.push_back(std::move(one));
  }
  return made;
}

Json opOf(const Op &op, uint32_t gpu, RemoteBuffers &remotes, Lists &lists) {
  Json made;
  made["name"] = spelling(op.kind);
  if (op.channelKind != ChannelKind::None)
    made["channel_type"] = spelling(op.channelKind);
  for (uint32_t channel : op.channels)
    made["channel_ids"].push_back(Lists::positionIn(lists.channels, channel));
  if (!op.sources.empty())
    made["src_buff"] = rangesOf(op.sources, gpu, remotes, lists);
  if (!op.destinations.empty())
    made["dst_buff"] = rangesOf(op.destinations, gpu, remotes, lists);
  if (op.kind == OpKind::Reduce || op.kind == OpKind::ReduceSend)
    made["reduce_op"] = "sum";
  if (!op.semaphores.empty())
    made["semaphore_ids"] = op.semaphores;
  return made;
}

Json gpuOf(const Gpu &gpu, uint32_t id) {
  Json made;
  made["id"] = id;
  made["input_chunks"] = gpu.inputChunks;
  made["output_chunks"] = gpu.outputChunks;
  made["scratch_chunks"] = gpu.scratchChunks;
  Json peers = Json::array();
  for (const Channel &channel : gpu.memoryChannels)
    peers.push_back(channel.peer);
  made["channels"] = Json::array();
  if (!peers.empty())
    made["channels"].push_back({{"channel_type", "memory"}, {"connected_to", std::move(peers)}});
  RemoteBuffers remotes;
  Json blocks = Json::array();
  for (uint32_t b = 0; b < gpu.threadBlocks.size(); ++b) {
    Lists lists;
    Json ops = Json::array();
    for (const Op &op : gpu.threadBlocks[b].ops)
      ops.push_back(opOf(op, id, remotes, lists));
    Json block = {{"id", b}, {"ops", std::move(ops)}};
    block["channels"] = Json::array();
    if (!lists.channels.empty())
      block["channels"].push_back({{"channel_type", "memory"}, {"channel_ids", lists.channels}});
    block["remote_buffer_refs"] = Json::array();
    if (!lists.buffers.empty())
      block["remote_buffer_refs"].push_back(
          {{"access_channel_type", "memory"}, {"remote_buffer_ids", lists.buffers}});
    blocks.push_back(std::move(block));
  }
  made["threadblocks"] = std::move(blocks);
  made["remote_buffers"] = Json::array();
  for (const auto &[owner, buffer] : remotes.all)
    made["remote_buffers"].push_back(
        {{"rank", owner}, {"type", codeOf(buffer)}, {"access_channel_types", {"memory"}}});
  made["semaphores"] = Json::array();
  for (int32_t value : gpu.semaphores)
    made["semaphores"].push_back({{"init_value", value}});
  return made;
}

} // namespace

std::string print(const Plan &plan) {
  Json made;
  made["name"] = plan.name;
  made["collective"] = plan.collective;
  made["protocol"] = "Simple";
  made["inplace"] = plan.inPlace;
  made["reuse_resources"] = plan.reusesResources;
  made["num_threads_per_block"] = plan.numThreads;
  made["use_double_scratch_buffer"] = plan.doubleScratch;
  made["buffer_alignment"] = plan.alignment;
  made["min_message_size"] = plan.minBytes;
  made["max_message_size"] = plan.maxBytes;
  made["gpus"] = Json::array();
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu)
    made["gpus"].push_back(gpuOf(plan.gpus[gpu], gpu));
  return made.dump(1) + "\n";
}

} // namespace colldsl::mscclpp
