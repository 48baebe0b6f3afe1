#include "mscclpp/CheckOp.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::mscclpp {
namespace {

constexpr uint32_t kMaxOpChannels = 8, kMaxOpRanges = 10;

/// The shape of an op that moves data: how many ranges it has, and where they lie.
struct Shape {
  enum class Where : uint8_t { Local, Remote, Switch };
  uint32_t leastSources, leastDestinations;
  uint32_t mostSources, mostDestinations;
  Where firstSource, otherSources;
  Where firstDestination, otherDestinations;
  bool packetSources = false;       ///< all but a first source with payload lie in scratch
  uint32_t payloadDestinations = 0; ///< the others are packets, in scratch
};

constexpr auto kLocal = Shape::Where::Local, kRemote = Shape::Where::Remote,
               kSwitch = Shape::Where::Switch;
constexpr uint32_t kAll = ~0U;

const Shape *shapeOf(OpKind kind) {
  static const Shape put{1, 1, kAll, kAll, kLocal, kLocal, kRemote, kRemote, false, kAll};
  static const Shape get{1, 1, kAll, kAll, kRemote, kRemote, kLocal, kLocal, false, kAll};
  static const Shape copy{1, 1, 1, 1, kLocal, kLocal, kLocal, kLocal, false, kAll};
  static const Shape reduce{2, 1, kAll, 1, kLocal, kLocal, kLocal, kLocal, false, kAll};
  static const Shape reduceSend{1, 2, kAll, kAll, kLocal, kLocal, kLocal, kRemote, false, kAll};
  static const Shape readReduce{2, 1, kAll, 1, kLocal, kRemote, kLocal, kLocal, false, kAll};
  static const Shape readReduceSend{2,       2,      kAll,    kAll,  kLocal,
                                    kRemote, kLocal, kRemote, false, kAll};
  static const Shape putPackets{1, 1, kAll, kAll, kLocal, kLocal, kRemote, kRemote, false, 0};
  static const Shape readPutPackets{1, 1, 1, kAll, kLocal, kLocal, kRemote, kRemote, true, 0};
  static const Shape copyPackets{1, 1, 1, 1, kLocal, kLocal, kLocal, kLocal, false, 0};
  static const Shape unpack{1, 1, 1, 1, kLocal, kLocal, kLocal, kLocal, true, kAll};
  static const Shape reducePackets{2, 1, kAll, 1, kLocal, kLocal, kLocal, kLocal, true, 1};
  static const Shape reduceSendPackets{2, 2, kAll, kAll, kLocal, kLocal, kLocal, kRemote, true, 1};
  static const Shape reduceCopyPackets{2, 2, kAll, 2, kLocal, kLocal, kLocal, kLocal, true, 1};
  static const Shape reduceCopySend{2, 3, kAll, kAll, kLocal, kLocal, kLocal, kRemote, true, 1};
  static const Shape switchReduce{1, 1, 1, 1, kSwitch, kSwitch, kSwitch, kSwitch, false, kAll};
  static const Shape switchStore{1, 1, 1, 1, kLocal, kLocal, kSwitch, kSwitch, false, kAll};
  static const Shape switchPackets{1, 1, 1, 1, kLocal, kLocal, kSwitch, kSwitch, true, 0};
  switch (kind) {
  case OpKind::Put:
  case OpKind::PutSignal:
  case OpKind::PutSignalFlush:
    return &put;
  case OpKind::Get:
    return &get;
  case OpKind::Copy:
    return &copy;
  case OpKind::Reduce:
    return &reduce;
  case OpKind::ReduceSend:
    return &reduceSend;
  case OpKind::ReadReduce:
    return &readReduce;
  case OpKind::ReadReduceSend:
    return &readReduceSend;
  case OpKind::PutPackets:
    return &putPackets;
  case OpKind::ReadPutPackets:
    return &readPutPackets;
  case OpKind::CopyPackets:
    return &copyPackets;
  case OpKind::UnpackPackets:
    return &unpack;
  case OpKind::ReducePackets:
    return &reducePackets;
  case OpKind::ReduceSendPackets:
    return &reduceSendPackets;
  case OpKind::ReduceCopyPackets:
    return &reduceCopyPackets;
  case OpKind::ReduceCopySendPackets:
    return &reduceCopySend;
  case OpKind::SwitchReduceStore:
    return &switchReduce;
  case OpKind::SwitchStore:
    return &switchStore;
  case OpKind::SwitchStorePackets:
    return &switchPackets;
  case OpKind::Nop:
  case OpKind::Barrier:
  case OpKind::Signal:
  case OpKind::Wait:
  case OpKind::RelaxedSignal:
  case OpKind::RelaxedWait:
  case OpKind::Flush:
  case OpKind::Pipeline:
  case OpKind::Acquire:
  case OpKind::Release:
    return nullptr;
  }
  return nullptr;
}

bool liesThere(const ChunkRange &range, Shape::Where where) {
  return range.isSwitch == (where == kSwitch) && range.isRemote == (where == kRemote);
}

/// The op that also makes packets of its own GPU has two destinations there.
Shape::Where whereOf(const Op &op, const Shape &shape, size_t destination) {
  size_t first = op.kind == OpKind::ReduceCopySendPackets ? 2 : 1;
  return destination < first ? shape.firstDestination : shape.otherDestinations;
}

std::string whyNotRanges(const Op &op, const Shape &shape) {
  if (op.sources.size() < shape.leastSources || op.destinations.size() < shape.leastDestinations)
    return concat("has ", op.sources.size(), " in src_buff and ", op.destinations.size(),
                  " in dst_buff, the executor reads ", shape.leastSources, " and ",
                  shape.leastDestinations, " or more");
  if (op.sources.size() > shape.mostSources || op.destinations.size() > shape.mostDestinations)
    return concat("has ", op.sources.size(), " in src_buff and ", op.destinations.size(),
                  " in dst_buff: the executor ignores some of them");
  if (op.sources.size() > kMaxOpRanges || op.destinations.size() > kMaxOpRanges)
    return concat("has more than ", kMaxOpRanges, " buffers in a list");
  for (size_t i = 0; i < op.sources.size(); ++i)
    if (!liesThere(op.sources[i], i == 0 ? shape.firstSource : shape.otherSources))
      return concat("has a src_buff[", i, "] that does not fit: a buffer of the wrong kind");
  for (size_t i = 0; i < op.destinations.size(); ++i)
    if (!liesThere(op.destinations[i], whereOf(op, shape, i)))
      return concat("has a dst_buff[", i, "] that does not fit: a buffer of the wrong kind");
  uint32_t size = op.sources.front().size;
  for (const std::vector<ChunkRange> *list : {&op.sources, &op.destinations})
    for (const ChunkRange &range : *list)
      if (range.size != size && !movesPairs(op.kind))
        return concat("has ranges of ", size, " and of ", range.size, " chunks");
  return {};
}

std::string whyNotPairs(const Op &op) {
  if (op.sources.size() != op.destinations.size())
    return concat("has ", op.sources.size(), " in src_buff and ", op.destinations.size(),
                  " in dst_buff");
  for (size_t i = 0; i < op.sources.size(); ++i) {
    const ChunkRange &from = op.sources[i], &to = op.destinations[i];
    if (from.size != to.size)
      return concat("moves ", from.size, " chunks of src_buff[", i, "] to ", to.size);
    if (op.kind == OpKind::Get && from.index != to.index)
      return concat("reads at ", from.index, " and writes at ", to.index,
                    ": the executor takes the remote offset for the local one");
    if (op.kind != OpKind::Get && op.channelKind == ChannelKind::Memory &&
        from.buffer != op.sources.front().buffer)
      return concat("has src_buff[", i, "] in ", spelling(from.buffer),
                    ": the executor takes all from the buffer of the first, ",
                    spelling(op.sources.front().buffer));
  }
  return {};
}

std::string whyNotPackets(const Plan &plan, const Op &op, const Shape &shape) {
  if (!plan.usesPackets)
    return "sends packets, and the protocol is not LL: scratch has half of the room that they take";
  if (op.kind == OpKind::PutPackets && op.channelKind == ChannelKind::Port)
    return "is over a port: the executor takes the buffers of the plan that it set up first";
  size_t payload = op.kind == OpKind::ReadPutPackets || op.kind == OpKind::UnpackPackets ||
                           op.kind == OpKind::SwitchStorePackets
                       ? 0
                       : 1;
  for (size_t i = payload; shape.packetSources && i < op.sources.size(); ++i)
    if (op.sources[i].buffer != Buffer::Scratch)
      return concat("reads packets from ", spelling(op.sources[i].buffer),
                    ", the executor from scratch");
  for (size_t i = shape.payloadDestinations; i < op.destinations.size(); ++i)
    if (op.destinations[i].buffer != Buffer::Scratch)
      return concat("writes packets to ", spelling(op.destinations[i].buffer),
                    ", which has payload");
  return {};
}

bool isPut(OpKind kind) {
  return kind == OpKind::Put || kind == OpKind::PutSignal || kind == OpKind::PutSignalFlush ||
         kind == OpKind::PutPackets || kind == OpKind::ReadPutPackets;
}

bool isSignalOrWait(OpKind kind) {
  return kind == OpKind::Signal || kind == OpKind::RelaxedSignal || kind == OpKind::Wait ||
         kind == OpKind::RelaxedWait;
}

/// A thread each serves a signal, a wait, a request to the proxy and a semaphore.
std::string whyNotThreads(const Plan &plan, const Op &op) {
  size_t needed = isSignalOrWait(op.kind) ? op.channels.size() : op.semaphores.size();
  if (isPut(op.kind) && op.channelKind == ChannelKind::Port)
    needed = op.destinations.size();
  if (needed > plan.numThreads)
    return concat("takes ", needed, " threads, num_threads_per_block is ", plan.numThreads);
  return {};
}

/// Puts over ports, and puts that signal, name the channel of each destination.
std::string whyNotChannels(const Op &op) {
  if (op.channels.size() > kMaxOpChannels)
    return concat("has ", op.channels.size(), " channels, the executor takes ", kMaxOpChannels);
  bool isSignal = isSignalOrWait(op.kind);
  if (isSignal && (op.channelKind == ChannelKind::Switch || op.channelKind == ChannelKind::None))
    return concat("is over ", spelling(op.channelKind), " channel: the executor does nothing");
  if (isSignal && op.channels.empty())
    return "has no channel_ids";
  if ((op.kind == OpKind::PutSignal || op.kind == OpKind::PutSignalFlush) &&
      op.channelKind != ChannelKind::Port)
    return "is not over a port: the executor would not signal";
  if (isPut(op.kind) && op.channelKind != ChannelKind::Memory &&
      op.channelKind != ChannelKind::Port)
    return concat("is over ", spelling(op.channelKind), " channel: the executor does nothing");
  if (isPut(op.kind) && op.channelKind == ChannelKind::Port) {
    if (op.channels.size() < op.destinations.size())
      return concat("has ", op.channels.size(), " channels for ", op.destinations.size(),
                    " in dst_buff");
    return {};
  }
  bool isRemote = isPut(op.kind) || op.kind == OpKind::Get || op.kind == OpKind::ReadReduce ||
                  op.kind == OpKind::ReadReduceSend || op.kind == OpKind::ReduceSend ||
                  op.kind == OpKind::ReduceSendPackets || op.kind == OpKind::ReduceCopySendPackets;
  if (isRemote && op.channelKind != ChannelKind::Memory)
    return concat("is over ", spelling(op.channelKind),
                  " channel, the executor reads its buffers as those of memory channels");
  return {};
}

} // namespace

std::string whyNotExecutable(const Plan &plan, const Op &op, bool inPipeline) {
  if (std::string why = whyNotChannels(op); !why.empty())
    return why;
  if (std::string why = whyNotThreads(plan, op); !why.empty())
    return why;
  if (op.kind == OpKind::Barrier && op.barrierSize == 0)
    return "has no num_threadblocks";
  if ((op.kind == OpKind::Acquire || op.kind == OpKind::Release) && op.semaphores.empty())
    return "has no semaphore_ids";
  const Shape *shape = shapeOf(op.kind);
  if (!shape)
    return {};
  if (std::string why = whyNotRanges(op, *shape); !why.empty())
    return why;
  if (movesPairs(op.kind))
    if (std::string why = whyNotPairs(op); !why.empty())
      return why;
  if (usesPackets(op.kind))
    if (std::string why = whyNotPackets(plan, op, *shape); !why.empty())
      return why;
  if (inPipeline && op.slices > 1)
    return "has tbg_info in a pipeline: the iterations go beyond its slice";
  return {};
}

bool movesPairs(OpKind kind) {
  return kind == OpKind::Put || kind == OpKind::PutSignal || kind == OpKind::PutSignalFlush ||
         kind == OpKind::Get || kind == OpKind::PutPackets;
}

bool isPacketRange(const Op &op, bool isSource, size_t position) {
  bool areAll = op.kind == OpKind::ReadPutPackets || op.kind == OpKind::SwitchStorePackets;
  if (!usesPackets(op.kind))
    return false;
  if (op.kind == OpKind::UnpackPackets)
    return isSource;
  if (op.kind == OpKind::PutPackets || op.kind == OpKind::CopyPackets)
    return areAll || !isSource;
  return areAll || position > 0;
}

std::string whyNotInPipeline(const Op &pipeline, const Op &member) {
  if (usesPackets(member.kind))
    return "moves packets in a pipeline: the executor moves all of them in each iteration";
  for (const std::vector<ChunkRange> *list : {&member.sources, &member.destinations})
    for (const ChunkRange &range : *list)
      if (range.size != pipeline.numChunks)
        return concat(
            "has a range of ", range.size, " chunks in a pipeline over ", pipeline.numChunks,
            range.size < pipeline.numChunks ? ": it goes beyond its end" : ": the rest is left");
  return {};
}

} // namespace colldsl::mscclpp
