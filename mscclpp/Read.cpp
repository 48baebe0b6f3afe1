#include "mscclpp/Read.h"

#include "ir/Concat.h"
#include "mscclpp/CheckOp.h"
#include "mscclpp/OpPlaces.h"
#include "mscclpp/ReadLists.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace colldsl::mscclpp {
namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr uint32_t kMaxGpus = 1024, kMaxChunks = 1 << 20;
constexpr uint32_t kMaxOps = 64;           ///< per thread block, with those in pipelines
constexpr uint32_t kMaxChannels = 16;      ///< per thread block and kind
constexpr uint32_t kMaxRemoteBuffers = 16; ///< per thread block and kind of channel
constexpr uint32_t kMaxBarriers = 16, kMaxSemaphores = 16;
constexpr uint32_t kMaxThreads = 1024;

struct SwitchGroup {
  Buffer buffer;
  std::vector<uint32_t> gpus;    ///< ascending
  std::vector<uint32_t> inOrder; ///< as the plan lists them
};
struct RemoteBuffer {
  uint32_t gpu;
  Buffer buffer;
  std::vector<ChannelKind> access; ///< channels over which the executor knows it
};
/// The members of one GPU to which its thread blocks refer by position.
struct GpuTables {
  std::vector<SwitchGroup> groups;
  std::vector<RemoteBuffer> remotes;
};
/// The lists of one thread block to which its ops refer by position.
struct BlockTables {
  std::vector<uint32_t> memory, port, groups; ///< channels
  std::vector<uint32_t> memoryBuffers, portBuffers;
};

class PlanReader {
public:
  Result<Plan> read(const Json &json);

private:
  void readGpu(const Json &json, const JsonPlace &place, uint32_t gpu);
  void readChannels(const Json &list, const JsonPlace &place, uint32_t gpu);
  void readGroups(const Json &channel, const JsonPlace &place, uint32_t gpu);
  void readRemoteBuffers(const Json &list, const JsonPlace &place, uint32_t gpu);
  void readSemaphores(const Json &list, const JsonPlace &place, uint32_t gpu);
  void readBlocks(const Json &list, const JsonPlace &place, uint32_t gpu);
  void readBlockTables(JsonReader &block, uint32_t gpu, BlockTables &into);
  std::optional<Op> readOp(const Json &json, const JsonPlace &place, uint32_t gpu,
                           const BlockTables &tables, bool inPipeline);
  void readOpChannels(JsonReader &reader, const BlockTables &tables, Op &op);
  void readRanges(JsonReader &reader, const char *key, uint32_t gpu, const BlockTables &tables,
                  const Op &op, std::vector<ChunkRange> &into);
  void readPipeline(JsonReader &reader, uint32_t gpu, const BlockTables &tables, Op &op);
  void pairChannels();
  void checkGroups(const JsonPlace &gpus);
  void connectGroups(const JsonPlace &gpus);
  void fail(Status status) {
    if (status_)
      status_ = std::move(status);
  }
  void absorb(const JsonReader &reader) { fail(reader.status()); }

  Plan plan_;
  std::vector<GpuTables> tables_;
  Status status_;
};

std::optional<Buffer> bufferOf(const std::string &word) {
  if (word == "i")
    return Buffer::Input;
  if (word == "o")
    return Buffer::Output;
  return word == "s" ? std::optional(Buffer::Scratch) : std::nullopt;
}

std::optional<ChannelKind> channelKindOf(const std::string &word) {
  for (ChannelKind kind : {ChannelKind::Memory, ChannelKind::Port, ChannelKind::Switch})
    if (word == spelling(kind))
      return kind;
  return word == "none" ? std::optional(ChannelKind::None) : std::nullopt;
}

std::optional<OpKind> opKindOf(const std::string &word) {
  constexpr std::array kAll = {
#define COLLDSL_MSCCLPP_OP(Name, spelling, usesPackets) OpKind::Name,
#include "mscclpp/Ops.def"
  };
  for (OpKind kind : kAll)
    if (word == spelling(kind))
      return kind;
  return std::nullopt;
}

/// A word that must be there, as `parse` takes it.
template <typename Parse>
auto requiredWord(JsonReader &reader, const char *key, Parse parse) -> decltype(parse("")) {
  std::string word;
  reader.text(key, word);
  reader.member(key, true);
  auto parsed = parse(word);
  if (!parsed && reader.status())
    reader.fail(key, "is '" + word + "', which is not known");
  return parsed;
}

void requiredNumber(JsonReader &reader, const char *key, uint32_t &into, uint64_t max) {
  reader.member(key, true);
  reader.number(key, into, max);
}

Result<Plan> PlanReader::read(const Json &json) {
  JsonReader reader(json, {"plan", ""});
  reader.text("name", plan_.name);
  reader.member("name", true);
  reader.text("collective", plan_.collective);
  reader.member("collective", true);
  plan_.usesPackets = requiredWord(reader, "protocol", [](const std::string &word) {
                        return word == "LL"       ? std::optional(true)
                               : word == "Simple" ? std::optional(false)
                                                  : std::nullopt;
                      }).value_or(false);
  reader.flag("inplace", plan_.inPlace);
  reader.member("inplace", true);
  reader.flag("reuse_resources", plan_.reusesResources);
  reader.flag("use_double_scratch_buffer", plan_.doubleScratch);
  reader.number("buffer_alignment", plan_.alignment, 1 << 20);
  reader.number("min_message_size", plan_.minBytes, ~0ULL);
  reader.number("max_message_size", plan_.maxBytes, ~0ULL);
  if (plan_.minBytes > plan_.maxBytes)
    reader.fail("min_message_size", concat("is ", plan_.minBytes, ", more than max_message_size ",
                                           plan_.maxBytes, ": no message fits"));
  reader.number("num_threads_per_block", plan_.numThreads, kMaxThreads);
  if (plan_.numThreads == 0)
    reader.fail("num_threads_per_block", "is 0: a kernel of no threads");
  if (plan_.alignment == 0 || plan_.alignment % 16 != 0)
    reader.fail("buffer_alignment", "is no multiple of 16, which reductions need");
  const Json *gpus = reader.list("gpus", true);
  absorb(reader);
  if (!gpus || !status_)
    return status_;
  if (gpus->empty() || gpus->size() > kMaxGpus)
    return reader.placeOf("gpus").error(
        concat("has ", gpus->size(), " GPUs, a plan has 1 to ", kMaxGpus));
  plan_.gpus.resize(gpus->size());
  tables_.resize(gpus->size());
  // Ops name buffers of other GPUs, so the tables of all are read first.
  for (uint32_t gpu = 0; gpu < plan_.numGpus() && status_; ++gpu)
    readGpu((*gpus)[gpu], reader.placeOf("gpus").element(gpu), gpu);
  if (status_) {
    pairChannels();
    checkGroups(reader.placeOf("gpus"));
  }
  for (uint32_t gpu = 0; gpu < plan_.numGpus() && status_; ++gpu) {
    JsonPlace place = reader.placeOf("gpus").element(gpu);
    JsonReader member((*gpus)[gpu], place);
    const Json *blocks = member.list("threadblocks", true);
    absorb(member);
    if (blocks && blocks->empty())
      fail(place.member("threadblocks")
               .error("is empty: a kernel of no threadblocks is not launched"));
    if (blocks)
      readBlocks(*blocks, place.member("threadblocks"), gpu);
  }
  if (!status_)
    return status_;
  return std::move(plan_);
}

void PlanReader::readGpu(const Json &json, const JsonPlace &place, uint32_t gpu) {
  JsonReader reader(json, place);
  uint32_t id = gpu;
  requiredNumber(reader, "id", id, kMaxGpus);
  if (reader.status() && id != gpu)
    reader.fail("id", concat("is ", id, ", not its position ", gpu));
  Gpu &into = plan_.gpus[gpu];
  requiredNumber(reader, "input_chunks", into.inputChunks, kMaxChunks);
  requiredNumber(reader, "output_chunks", into.outputChunks, kMaxChunks);
  requiredNumber(reader, "scratch_chunks", into.scratchChunks, kMaxChunks);
  if (reader.status() && (into.inputChunks == 0 || into.outputChunks == 0))
    reader.fail(into.inputChunks == 0 ? "input_chunks" : "output_chunks",
                "is 0, and the executor divides by it");
  const Json *channels = reader.list("channels", true);
  const Json *remotes = reader.list("remote_buffers", true);
  const Json *semaphores = reader.list("semaphores", false);
  absorb(reader);
  if (channels)
    readChannels(*channels, place.member("channels"), gpu);
  if (remotes)
    readRemoteBuffers(*remotes, place.member("remote_buffers"), gpu);
  if (semaphores)
    readSemaphores(*semaphores, place.member("semaphores"), gpu);
}

void PlanReader::readChannels(const Json &list, const JsonPlace &place, uint32_t gpu) {
  for (size_t i = 0; i < list.size() && status_; ++i) {
    JsonReader reader(list[i], place.element(i));
    std::optional<ChannelKind> kind = requiredWord(reader, "channel_type", channelKindOf);
    if (kind == ChannelKind::Switch) {
      absorb(reader);
      readGroups(list[i], place.element(i), gpu);
      continue;
    }
    const Json *peers = reader.list("connected_to", true);
    absorb(reader);
    if (!peers || !kind)
      continue;
    if (*kind == ChannelKind::None)
      return fail(place.element(i).member("channel_type").error("is 'none': no channel"));
    Gpu &into = plan_.gpus[gpu];
    for (uint32_t peer :
         numbers(*peers, place.element(i).member("connected_to"), plan_.numGpus() - 1, status_)) {
      if (peer == gpu)
        return fail(place.element(i).member("connected_to").error("has the GPU itself"));
      (*kind == ChannelKind::Memory ? into.memoryChannels : into.portChannels)
          .push_back({peer, Channel::kNoPair});
    }
  }
}

void PlanReader::readGroups(const Json &channel, const JsonPlace &place, uint32_t gpu) {
  JsonReader reader(channel, place);
  std::optional<Buffer> buffer = requiredWord(reader, "buffer_type", bufferOf);
  const Json *groups = reader.list("rank_groups", true);
  absorb(reader);
  for (size_t i = 0; groups && i < groups->size() && status_; ++i) {
    JsonPlace at = place.member("rank_groups").element(i);
    JsonReader group((*groups)[i], at);
    const Json *ranks = group.list("ranks", true);
    absorb(group);
    if (!ranks || !status_)
      return;
    std::vector<uint32_t> listed =
        numbers(*ranks, at.member("ranks"), plan_.numGpus() - 1, status_);
    SwitchGroup made{*buffer, listed, listed};
    std::sort(made.gpus.begin(), made.gpus.end());
    if (std::adjacent_find(made.gpus.begin(), made.gpus.end()) != made.gpus.end())
      return fail(at.member("ranks").error("has a GPU twice"));
    if (!std::binary_search(made.gpus.begin(), made.gpus.end(), gpu))
      return fail(at.member("ranks").error(concat("has not GPU ", gpu, ", to which it belongs")));
    tables_[gpu].groups.push_back(std::move(made));
  }
}

void PlanReader::readRemoteBuffers(const Json &list, const JsonPlace &place, uint32_t gpu) {
  for (size_t i = 0; i < list.size() && status_; ++i) {
    JsonReader reader(list[i], place.element(i));
    RemoteBuffer made{0, Buffer::Input, {}};
    requiredNumber(reader, "rank", made.gpu, plan_.numGpus() - 1);
    std::optional<Buffer> buffer = requiredWord(reader, "type", bufferOf);
    if (reader.status() && made.gpu == gpu)
      reader.fail("rank", "is the GPU itself");
    const Json *access = reader.list("access_channel_types", true);
    absorb(reader);
    for (size_t k = 0; access && k < access->size() && status_; ++k) {
      const Json &word = (*access)[k];
      std::optional<ChannelKind> kind =
          word.is_string() ? channelKindOf(word.get<std::string>()) : std::nullopt;
      if (!kind)
        fail(
            place.element(i).member("access_channel_types").element(k).error("is no channel type"));
      else
        made.access.push_back(*kind);
    }
    made.buffer = buffer.value_or(Buffer::Input);
    tables_[gpu].remotes.push_back(std::move(made));
  }
}

void PlanReader::readSemaphores(const Json &list, const JsonPlace &place, uint32_t gpu) {
  for (size_t i = 0; i < list.size() && status_; ++i) {
    JsonReader reader(list[i], place.element(i));
    uint32_t value = 0;
    requiredNumber(reader, "init_value", value, 1 << 20);
    absorb(reader);
    plan_.gpus[gpu].semaphores.push_back(static_cast<int32_t>(value));
  }
}

// The i-th channel of a GPU to a peer is connected to the i-th channel of that kind from there.
void PlanReader::pairChannels() {
  for (ChannelKind kind : {ChannelKind::Memory, ChannelKind::Port}) {
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> byPeer; // of a GPU and its peer
    for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu) {
      const std::vector<Channel> &list = plan_.gpus[gpu].channels(kind);
      for (uint32_t i = 0; i < list.size(); ++i)
        byPeer[{gpu, list[i].peer}].push_back(i);
    }
    for (const auto &[ends, own] : byPeer) {
      auto there = byPeer.find({ends.second, ends.first});
      size_t pairs = there == byPeer.end() ? 0 : std::min(own.size(), there->second.size());
      Gpu &gpu = plan_.gpus[ends.first];
      std::vector<Channel> &list =
          kind == ChannelKind::Port ? gpu.portChannels : gpu.memoryChannels;
      for (size_t i = 0; i < pairs; ++i)
        list[own[i]].pair = there->second[i];
    }
  }
}

// All GPUs of a switch group make its connection together, group after group: each lists the groups
// that it shares with another one as that one does, and no GPUs wait for each other in a circle.
void PlanReader::checkGroups(const JsonPlace &gpus) {
  auto sharedWith = [&](uint32_t gpu, uint32_t other) {
    std::vector<std::pair<std::vector<uint32_t>, Buffer>> shared;
    for (const SwitchGroup &group : tables_[gpu].groups)
      if (std::binary_search(group.gpus.begin(), group.gpus.end(), other))
        shared.emplace_back(group.inOrder, group.buffer);
    return shared;
  };
  for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu) {
    std::set<uint32_t> peers;
    for (const SwitchGroup &group : tables_[gpu].groups)
      peers.insert(group.gpus.begin(), group.gpus.end());
    for (uint32_t peer : peers)
      if (status_ && sharedWith(gpu, peer) != sharedWith(peer, gpu))
        fail(gpus.element(gpu)
                 .member("channels")
                 .error(concat(
                     "and those of GPU ", peer,
                     " differ in the switch groups of both: in their ranks, buffers or order")));
  }
  if (status_)
    connectGroups(gpus);
}

/// Connects the groups of all GPUs in their orders, as far as that goes.
void PlanReader::connectGroups(const JsonPlace &gpus) {
  std::vector<size_t> connected(plan_.numGpus(), 0);
  auto next = [&](uint32_t gpu) {
    const std::vector<SwitchGroup> &groups = tables_[gpu].groups;
    return connected[gpu] < groups.size() ? &groups[connected[gpu]] : nullptr;
  };
  auto isMet = [&](const SwitchGroup &group) {
    return std::all_of(group.gpus.begin(), group.gpus.end(), [&](uint32_t member) {
      const SwitchGroup *other = next(member);
      return other && other->inOrder == group.inOrder && other->buffer == group.buffer;
    });
  };
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu)
      while (next(gpu) && isMet(*next(gpu))) {
        for (uint32_t member : std::vector<uint32_t>(next(gpu)->gpus))
          ++connected[member];
        isChanged = true;
      }
  }
  for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu)
    if (const SwitchGroup *group = next(gpu)) {
      std::string ranks;
      for (uint32_t rank : group->inOrder)
        ranks += concat(ranks.empty() ? "" : ", ", rank);
      return fail(
          gpus.element(gpu)
              .member("channels")
              .error(
                  concat("have the switch group of ranks ", ranks, " as number ", connected[gpu],
                         ", where others of them connect other groups first: they never connect")));
    }
}

void PlanReader::readBlocks(const Json &list, const JsonPlace &place, uint32_t gpu) {
  for (uint32_t i = 0; i < list.size() && status_; ++i) {
    JsonPlace at = place.element(i);
    JsonReader reader(list[i], at);
    uint32_t id = i;
    requiredNumber(reader, "id", id, ~0U);
    if (reader.status() && id != i)
      reader.fail("id", concat("is ", id, ", not its position ", i));
    BlockTables tables;
    readBlockTables(reader, gpu, tables);
    const Json *ops = reader.list("ops", true);
    absorb(reader);
    ThreadBlock &block = plan_.gpus[gpu].threadBlocks.emplace_back();
    uint32_t count = 0;
    for (size_t k = 0; ops && k < ops->size() && status_; ++k)
      if (std::optional<Op> op =
              readOp((*ops)[k], at.member("ops").element(k), gpu, tables, false)) {
        count += 1 + static_cast<uint32_t>(op->members.size());
        block.ops.push_back(std::move(*op));
      }
    if (status_ && count > kMaxOps)
      fail(at.member("ops").error(
          concat("has ", count, " ops with those of pipelines, the executor takes ", kMaxOps)));
  }
}

void PlanReader::readBlockTables(JsonReader &block, uint32_t gpu, BlockTables &into) {
  const Json *channels = block.list("channels", true);
  const Json *buffers = block.list("remote_buffer_refs", false);
  absorb(block);
  for (size_t i = 0; channels && i < channels->size() && status_; ++i) {
    JsonPlace at = block.placeOf("channels").element(i);
    JsonReader reader((*channels)[i], at);
    std::optional<ChannelKind> kind = requiredWord(reader, "channel_type", channelKindOf);
    const Json *ids = reader.list("channel_ids", true);
    absorb(reader);
    if (!status_ || *kind == ChannelKind::None)
      continue;
    std::vector<uint32_t> &list = *kind == ChannelKind::Memory ? into.memory
                                  : *kind == ChannelKind::Port ? into.port
                                                               : into.groups;
    size_t there = *kind == ChannelKind::Switch ? tables_[gpu].groups.size()
                                                : plan_.gpus[gpu].channels(*kind).size();
    for (uint32_t id :
         positions(*ids, at.member("channel_ids"), there, "channels of the GPU", status_))
      list.push_back(id);
    if (status_ && list.size() > kMaxChannels)
      fail(at.member("channel_ids")
               .error(concat("makes ", list.size(), " ", spelling(*kind),
                             " channels, the executor takes ", kMaxChannels)));
  }
  for (size_t i = 0; buffers && i < buffers->size() && status_; ++i) {
    JsonPlace at = block.placeOf("remote_buffer_refs").element(i);
    JsonReader reader((*buffers)[i], at);
    std::optional<ChannelKind> kind = requiredWord(reader, "access_channel_type", channelKindOf);
    const Json *ids = reader.list("remote_buffer_ids", true);
    absorb(reader);
    if (!status_)
      return;
    if (*kind != ChannelKind::Memory && *kind != ChannelKind::Port)
      return fail(at.member("access_channel_type")
                      .error(concat("is over ", spelling(*kind),
                                    " channel: the executor leaves these buffers out")));
    std::vector<uint32_t> &list =
        *kind == ChannelKind::Port ? into.portBuffers : into.memoryBuffers;
    for (uint32_t id : positions(*ids, at.member("remote_buffer_ids"), tables_[gpu].remotes.size(),
                                 "remote buffers of the GPU", status_)) {
      const std::vector<ChannelKind> &access = tables_[gpu].remotes[id].access;
      if (std::find(access.begin(), access.end(), *kind) == access.end())
        return fail(at.member("remote_buffer_ids")
                        .error(concat("has buffer ", id, ", whose access_channel_types lack ",
                                      spelling(*kind), ": the executor takes buffer 0")));
      list.push_back(id);
    }
    if (status_ && list.size() > kMaxRemoteBuffers)
      fail(at.member("remote_buffer_ids")
               .error(concat("makes ", list.size(), " remote buffers, the executor takes ",
                             kMaxRemoteBuffers)));
  }
}

// The executor keeps these members of an op where it keeps channels and offsets of others.
void refuseForeignMembers(JsonReader &reader, OpKind kind) {
  bool isSemaphore = kind == OpKind::Acquire || kind == OpKind::Release;
  const std::pair<const char *, bool> members[] = {{"barrier_id", kind == OpKind::Barrier},
                                                   {"num_threadblocks", kind == OpKind::Barrier},
                                                   {"semaphore_ids", isSemaphore},
                                                   {"iter_context", kind == OpKind::Pipeline}};
  for (const auto &[member, fits] : members)
    if (!fits && reader.member(member, false))
      reader.fail(member, concat("is not for '", spelling(kind),
                                 "': it overwrites what the executor keeps of the op"));
}

std::optional<Op> PlanReader::readOp(const Json &json, const JsonPlace &place, uint32_t gpu,
                                     const BlockTables &tables, bool inPipeline) {
  JsonReader reader(json, place);
  Op op;
  std::optional<OpKind> kind = requiredWord(reader, "name", opKindOf);
  if (reader.member("channel_type", false))
    op.channelKind =
        requiredWord(reader, "channel_type", channelKindOf).value_or(ChannelKind::None);
  absorb(reader);
  if (!status_)
    return std::nullopt;
  op.kind = *kind;
  if (const Json *group = reader.member("tbg_info", false)) {
    JsonReader slice(*group, place.member("tbg_info"));
    requiredNumber(slice, "tbg_size", op.slices, 1024);
    requiredNumber(slice, "tb_id", op.slice, 1023);
    if (slice.status() && op.slice >= op.slices)
      slice.fail("tb_id", concat("is ", op.slice, ", tbg_size is ", op.slices));
    absorb(slice);
  }
  std::string reduction = "sum";
  reader.text("reduce_op", reduction);
  if (reduction != "sum")
    reader.fail("reduce_op", "is '" + reduction + "', and the executor makes sums only");
  refuseForeignMembers(reader, op.kind);
  readOpChannels(reader, tables, op);
  readRanges(reader, "src_buff", gpu, tables, op, op.sources);
  readRanges(reader, "dst_buff", gpu, tables, op, op.destinations);
  reader.number("barrier_id", op.barrier, kMaxBarriers - 1);
  reader.number("num_threadblocks", op.barrierSize, 1 << 16);
  if (const Json *ids = reader.list("semaphore_ids", false)) {
    op.semaphores = positions(*ids, place.member("semaphore_ids"),
                              plan_.gpus[gpu].semaphores.size(), "semaphores of the GPU", status_);
    if (op.semaphores.size() > kMaxSemaphores)
      reader.fail("semaphore_ids",
                  concat("has ", op.semaphores.size(), ", the executor takes ", kMaxSemaphores));
  }
  if (op.kind == OpKind::Pipeline && inPipeline)
    reader.fail("name", "is a pipeline in a pipeline");
  else if (op.kind == OpKind::Pipeline)
    readPipeline(reader, gpu, tables, op);
  absorb(reader);
  if (status_)
    if (std::string why = whyNotExecutable(plan_, op, inPipeline); !why.empty())
      fail(place.error(concat("('", spelling(op.kind), "') ", why)));
  return op;
}

void PlanReader::readOpChannels(JsonReader &reader, const BlockTables &tables, Op &op) {
  const Json *ids = reader.list("channel_ids", false);
  if (!ids || (op.channelKind != ChannelKind::Memory && op.channelKind != ChannelKind::Port))
    return;
  const std::vector<uint32_t> &own =
      op.channelKind == ChannelKind::Memory ? tables.memory : tables.port;
  for (uint32_t id : positions(*ids, reader.placeOf("channel_ids"), own.size(),
                               "channels of the thread block", status_))
    op.channels.push_back(own[id]);
}

void PlanReader::readRanges(JsonReader &reader, const char *key, uint32_t gpu,
                            const BlockTables &tables, const Op &op,
                            std::vector<ChunkRange> &into) {
  const Json *list = reader.list(key, false);
  for (size_t i = 0; list && i < list->size() && status_; ++i) {
    JsonPlace at = reader.placeOf(key).element(i);
    JsonReader range((*list)[i], at);
    ChunkRange made{{gpu}, Buffer::Input, 0, 0, false};
    requiredNumber(range, "index", made.index, kMaxChunks);
    requiredNumber(range, "size", made.size, kMaxChunks);
    uint32_t id = 0;
    if (range.member("buffer_id", false)) {
      const auto &own =
          op.channelKind == ChannelKind::Port ? tables.portBuffers : tables.memoryBuffers;
      range.number("buffer_id", id, ~0U);
      if (range.status() && id >= own.size())
        range.fail("buffer_id",
                   concat("is ", id, ", the thread block has ", own.size(), " remote buffers over ",
                          spelling(op.channelKind), " channels"));
      if (range.status()) {
        const RemoteBuffer &remote = tables_[gpu].remotes[own[id]];
        made.gpus = {remote.gpu};
        made.isRemote = true;
        made.buffer = remote.buffer;
      }
      if (range.status() && range.member("switch_channel_id", false))
        range.fail("switch_channel_id", "stands beside buffer_id, which it overwrites");
    } else if (range.member("switch_channel_id", false)) {
      range.number("switch_channel_id", id, ~0U);
      if (range.status() && id >= tables.groups.size())
        range.fail("switch_channel_id", concat("is ", id, ", the thread block has ",
                                               tables.groups.size(), " switch channels"));
      if (range.status()) {
        const SwitchGroup &group = tables_[gpu].groups[tables.groups[id]];
        made.gpus = group.gpus;
        made.buffer = group.buffer;
        made.isSwitch = true;
      }
    } else {
      made.buffer = requiredWord(range, "type", bufferOf).value_or(Buffer::Input);
    }
    absorb(range);
    for (uint32_t owner : made.gpus)
      if (status_ && uint64_t{made.index} + made.size > plan_.chunks(owner, made.buffer))
        fail(at.error(concat("ends at chunk ", uint64_t{made.index} + made.size, ", GPU ", owner,
                             " has ", plan_.chunks(owner, made.buffer), " of ",
                             spelling(made.buffer))));
    into.push_back(std::move(made));
  }
}

void PlanReader::readPipeline(JsonReader &reader, uint32_t gpu, const BlockTables &tables, Op &op) {
  const Json *context = reader.member("iter_context", true);
  const Json *ops = reader.list("ops", true);
  absorb(reader);
  if (!context || !ops)
    return;
  JsonReader iterations(*context, reader.placeOf("iter_context"));
  iterations.member("unit_size", true);
  iterations.number("unit_size", op.unitBytes, ~0U);
  requiredNumber(iterations, "num_chunks", op.numChunks, kMaxChunks);
  if (iterations.status() && (op.unitBytes == 0 || op.unitBytes % plan_.alignment != 0))
    iterations.fail("unit_size", concat("is ", op.unitBytes, ", no multiple of buffer_alignment ",
                                        plan_.alignment));
  if (iterations.status() && op.numChunks == 0)
    iterations.fail("num_chunks", "is 0: the pipeline does nothing");
  absorb(iterations);
  for (size_t i = 0; i < ops->size() && status_; ++i)
    if (std::optional<Op> member =
            readOp((*ops)[i], reader.placeOf("ops").element(i), gpu, tables, true)) {
      if (std::string why = whyNotInPipeline(op, *member); !why.empty())
        return fail(reader.placeOf("ops").element(i).error(
            concat("('", spelling(member->kind), "') ", why)));
      op.members.push_back(std::move(*member));
    }
}

} // namespace

Result<Plan> read(std::string_view json) {
  Result<Json> parsed = parseAnyJson(json, "plan", kMaxBytes);
  if (!parsed)
    return parsed.status();
  Result<Plan> plan = PlanReader().read(*parsed);
  if (plan)
    setPlaces(*plan, json);
  return plan;
}

} // namespace colldsl::mscclpp
