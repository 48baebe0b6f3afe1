#include "mscclpp/Events.h"

#include "ir/Concat.h"
#include "mscclpp/CheckOp.h"

#include <array>
#include <map>
#include <optional>
#include <set>

namespace colldsl::mscclpp {
namespace {

/// A request to the proxy, as later signals of its channel need it.
struct PortRequest {
  EventId done; ///< its write or signal
  uint32_t thread, segment;
};

/// The state of one thread block while its ops are laid out.
struct Block {
  uint32_t gpu = 0, block = kNone, launch = 0;
  EventId lastSync = kNoEvent;        ///< all threads have seen what came before
  std::vector<EventId> since;         ///< later steps of its threads
  std::map<uint32_t, EventId> lastOf; ///< per thread
  uint32_t segment = 0;               ///< counts the syncs
  std::map<uint32_t, std::vector<PortRequest>> portRequests; ///< per channel
  std::map<uint32_t, uint32_t> barrierCalls;
  uint32_t half = 0; ///< of the scratch buffer
};

/// The part of its ranges that an op serves: in a pipeline one cell.
struct Part {
  uint32_t begin, end;
  bool inPipeline;
};

class Builder {
public:
  Builder(const Plan &plan, const Memory &memory) : plan_(plan), memory_(memory) {}
  Result<Events> build(uint32_t launches);

private:
  using Thread = uint32_t;
  void addCounters();
  uint32_t counterOf(uint32_t gpu, ChannelKind kind, uint32_t index) const;
  EventId add(Event event) {
    made_.all.push_back(std::move(event));
    return static_cast<EventId>(made_.all.size() - 1);
  }
  Event at(const Block &block, Step step) const;
  EventId addToBlock(Block &block, Event event, Thread thread = kNone);
  void addUser(uint32_t gpu, uint32_t launch);
  EventId sync(Block &block);
  void barrier(Block &block, const Op &op);
  void run(Block &block, const Op &op, std::optional<Part> part);
  void runPipeline(Block &block, const Op &op);
  void signals(Block &block, const Op &op);
  void waits(Block &block, const Op &op);
  void semaphores(Block &block, const Op &op);
  void pushSignal(Block &block, const Op &op, uint32_t channel, Thread thread, EventId push);
  void putOverPort(Block &block, const Op &op, const Part &part);
  void move(Block &block, const Op &op, const Part &part);
  void combine(Block &block, const Op &op, const Part &part);
  void access(Event &event, const Block &block, const ChunkRange &range, uint32_t cell,
              const Part &part, bool packets, AccessKind kind) const;
  void read(Event &event, const Block &block, const ChunkRange &range, uint32_t cell,
            const Part &part, bool packets) const;
  void write(Event &event, const Block &block, const ChunkRange &range, uint32_t cell,
             const Part &part, bool packets) const;
  Location locate(const Block &block, const ChunkRange &range, uint32_t gpu, uint32_t cell,
                  const Part &part, bool packets, bool isLocalPointer) const;
  Status finishBarriers();

  struct BarrierCall {
    std::vector<uint32_t> sizes; ///< that each of its calls gives
    std::vector<EventId> in, out;
    std::set<uint32_t> blocks;
  };

  const Plan &plan_;
  const Memory &memory_;
  Events made_;
  Event place_; ///< op, member and iteration of what is laid out
  std::vector<EventId> user_;
  std::map<std::array<uint32_t, 4>, BarrierCall> barriers_; ///< launch, GPU, barrier, call
  std::vector<uint32_t> firstCounter_;                      ///< per GPU
  /// By GPU and channel: the launch, and the signal.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<uint32_t, EventId>>> portSignals_;
};

void Builder::addCounters() {
  for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu) {
    firstCounter_.push_back(static_cast<uint32_t>(made_.counters.size()));
    const Gpu &g = plan_.gpus[gpu];
    for (uint32_t i = 0; i < g.memoryChannels.size(); ++i)
      made_.counters.push_back({gpu, ChannelKind::Memory, i});
    for (uint32_t i = 0; i < g.portChannels.size(); ++i)
      made_.counters.push_back({gpu, ChannelKind::Port, i});
    for (uint32_t i = 0; i < g.semaphores.size(); ++i)
      made_.counters.push_back({gpu, ChannelKind::None, i, g.semaphores[i]});
  }
}

uint32_t Builder::counterOf(uint32_t gpu, ChannelKind kind, uint32_t index) const {
  const Gpu &g = plan_.gpus[gpu];
  size_t before = kind == ChannelKind::Memory ? 0
                  : kind == ChannelKind::Port ? g.memoryChannels.size()
                                              : g.memoryChannels.size() + g.portChannels.size();
  return firstCounter_[gpu] + static_cast<uint32_t>(before) + index;
}

Event Builder::at(const Block &block, Step step) const {
  Event made = place_;
  made.step = step;
  made.gpu = block.gpu;
  made.block = block.block;
  made.launch = block.launch;
  return made;
}

// Threads see each other's steps only after a sync; a thread sees its own.
EventId Builder::addToBlock(Block &block, Event event, Thread thread) {
  event.before.push_back(block.lastSync);
  if (thread != kNone)
    if (auto last = block.lastOf.find(thread); last != block.lastOf.end())
      event.before.push_back(last->second);
  EventId id = add(std::move(event));
  block.since.push_back(id);
  if (thread != kNone)
    block.lastOf[thread] = id;
  return id;
}

EventId Builder::sync(Block &block) {
  Event event = at(block, Step::Sync);
  event.before = std::move(block.since);
  event.before.push_back(block.lastSync);
  block.since.clear();
  block.lastOf.clear();
  ++block.segment;
  return block.lastSync = add(std::move(event));
}

void Builder::barrier(Block &block, const Op &op) {
  EventId in = sync(block);
  if (op.barrierSize == 1)
    return;
  uint32_t call = block.barrierCalls[op.barrier]++;
  BarrierCall &meeting = barriers_[{block.launch, block.gpu, op.barrier, call}];
  meeting.sizes.push_back(op.barrierSize);
  meeting.in.push_back(in);
  meeting.out.push_back(sync(block));
  meeting.blocks.insert(block.block);
}

Status Builder::finishBarriers() {
  for (auto &[key, meeting] : barriers_) {
    for (size_t i = 0; i < meeting.in.size(); ++i)
      if (meeting.sizes[i] != meeting.blocks.size())
        return Status::error(concat("barrier: ", describe(made_.all[meeting.in[i]]), ": call ",
                                    key[3] + 1, " of barrier ", key[2], " is for ",
                                    meeting.sizes[i], " threadblocks, ", meeting.blocks.size(),
                                    meeting.blocks.size() == 1 ? " makes it" : " make it"));
    for (EventId out : meeting.out)
      for (EventId in : meeting.in)
        made_.all[out].before.push_back(in);
  }
  return {};
}

void Builder::addUser(uint32_t gpu, uint32_t launch) {
  Event event;
  event.step = Step::User;
  event.gpu = gpu;
  event.launch = launch;
  std::set<Location> seen;
  for (Buffer buffer : {Buffer::Input, Buffer::Output})
    for (uint32_t chunk = 0; chunk < plan_.chunks(gpu, buffer); ++chunk)
      for (uint32_t i = 0; i < memory_.perChunk(); ++i)
        if (Location to = memory_.cell(gpu, buffer, chunk, i, 0); seen.insert(to).second)
          event.accesses.push_back({to, AccessKind::Write});
  if (launch > 0)
    event.before.push_back(user_[gpu]); // the step End of the launch, see build()
  user_[gpu] = add(std::move(event));
}

Result<Events> Builder::build(uint32_t launches) {
  addCounters();
  made_.launches = launches;
  user_.assign(plan_.numGpus(), kNoEvent);
  for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu)
    addUser(gpu, 0);
  for (uint32_t launch = 1; launch <= launches; ++launch)
    for (uint32_t gpu = 0; gpu < plan_.numGpus(); ++gpu) {
      place_ = Event();
      Block none;
      none.gpu = gpu;
      none.launch = launch;
      Event begin = at(none, Step::Begin);
      begin.before.push_back(user_[gpu]);
      EventId first = add(std::move(begin));
      made_.completions.push_back(first);
      Event end = at(none, Step::End);
      end.before.push_back(first);
      for (uint32_t i = 0; i < plan_.gpus[gpu].threadBlocks.size(); ++i) {
        Block block = none;
        block.block = i;
        block.lastSync = first;
        block.half = plan_.doubleScratch && launch % 2 == 0 ? 1 : 0;
        const std::vector<Op> &ops = plan_.gpus[gpu].threadBlocks[i].ops;
        for (uint32_t op = 0; op < ops.size(); ++op) {
          place_ = Event();
          place_.op = op;
          run(block, ops[op], std::nullopt);
        }
        end.before.insert(end.before.end(), block.since.begin(), block.since.end());
        end.before.push_back(block.lastSync);
      }
      user_[gpu] = add(std::move(end));
      made_.completions.push_back(user_[gpu]);
      addUser(gpu, launch);
    }
  if (made_.all.size() > kMostEvents)
    return std::move(made_);
  if (Status s = finishBarriers(); !s)
    return s;
  return std::move(made_);
}

void Builder::run(Block &block, const Op &op, std::optional<Part> part) {
  if (made_.all.size() > kMostEvents)
    return;
  place_.kind = op.kind;
  uint32_t cells = op.sources.empty() ? 0 : op.sources.front().size * memory_.perChunk();
  // Puts and gets of several ranges may have several sizes; move() takes the slice of each.
  Part all =
      part.value_or(Part{cells * op.slice / op.slices, cells * (op.slice + 1) / op.slices, false});
  switch (op.kind) {
  case OpKind::Nop:
    sync(block);
    return;
  case OpKind::Barrier:
    return barrier(block, op);
  case OpKind::Signal:
  case OpKind::RelaxedSignal:
    return signals(block, op);
  case OpKind::Wait:
  case OpKind::RelaxedWait:
    return waits(block, op);
  case OpKind::Flush:
    return; // the executor takes the number of its channels from dst_buff, which a flush has not
  case OpKind::Acquire:
  case OpKind::Release:
    return semaphores(block, op);
  case OpKind::Pipeline:
    return runPipeline(block, op);
  case OpKind::Put:
  case OpKind::PutSignal:
  case OpKind::PutSignalFlush:
  case OpKind::PutPackets:
    return op.channelKind == ChannelKind::Port ? putOverPort(block, op, all) : move(block, op, all);
  case OpKind::Get:
    return move(block, op, all);
  case OpKind::ReadPutPackets:
    if (op.channelKind == ChannelKind::Port)
      return putOverPort(block, op, all);
    return combine(block, op, all);
  case OpKind::Copy:
  case OpKind::Reduce:
  case OpKind::ReduceSend:
  case OpKind::ReadReduce:
  case OpKind::ReadReduceSend:
  case OpKind::CopyPackets:
  case OpKind::UnpackPackets:
  case OpKind::ReducePackets:
  case OpKind::ReduceSendPackets:
  case OpKind::ReduceCopyPackets:
  case OpKind::ReduceCopySendPackets:
  case OpKind::SwitchReduceStore:
  case OpKind::SwitchStore:
  case OpKind::SwitchStorePackets:
    return combine(block, op, all);
  }
}

void Builder::runPipeline(Block &block, const Op &op) {
  for (uint32_t i = 0; i < op.numChunks * memory_.perChunk(); ++i)
    for (uint32_t member = 0; member < op.members.size(); ++member) {
      place_.member = member;
      place_.iteration = i;
      run(block, op.members[member], Part{i, i + 1, true});
    }
  place_.member = place_.iteration = kNone;
}

void Builder::signals(Block &block, const Op &op) {
  for (uint32_t thread = 0; thread < op.channels.size(); ++thread) {
    const Channel &channel = plan_.gpus[block.gpu].channels(op.channelKind)[op.channels[thread]];
    if (op.channelKind == ChannelKind::Port) {
      EventId push = addToBlock(block, at(block, Step::Push), thread);
      pushSignal(block, op, op.channels[thread], thread, push);
      continue;
    }
    Event event = at(block, Step::Signal);
    event.counter = channel.pair == Channel::kNoPair
                        ? kNone
                        : counterOf(channel.peer, op.channelKind, channel.pair);
    event.relaxed = op.kind == OpKind::RelaxedSignal;
    addToBlock(block, std::move(event), thread);
  }
}

// The proxy takes requests in the order in which they were pushed, and a channel keeps it: writes
// and signals of earlier requests come before a signal. The order is known of requests that one
// thread pushed, that a sync separates, or that are of an earlier launch.
void Builder::pushSignal(Block &block, const Op &op, uint32_t channel, Thread thread,
                         EventId push) {
  const Channel &end = plan_.gpus[block.gpu].channels(op.channelKind)[channel];
  Event event = at(block, Step::Signal);
  event.counter =
      end.pair == Channel::kNoPair ? kNone : counterOf(end.peer, op.channelKind, end.pair);
  event.before.push_back(push);
  for (const PortRequest &earlier : block.portRequests[channel])
    if (earlier.thread == thread || earlier.segment < block.segment)
      event.before.push_back(earlier.done);
  for (const auto &[launch, done] : portSignals_[{block.gpu, channel}])
    if (launch < block.launch)
      event.before.push_back(done);
  EventId signal = add(std::move(event));
  block.portRequests[channel].push_back({signal, thread, block.segment});
  portSignals_[{block.gpu, channel}].push_back({block.launch, signal});
}

void Builder::waits(Block &block, const Op &op) {
  for (uint32_t thread = 0; thread < op.channels.size(); ++thread) {
    Event event = at(block, Step::Wait);
    event.counter = counterOf(block.gpu, op.channelKind, op.channels[thread]);
    event.relaxed = op.kind == OpKind::RelaxedWait && op.channelKind == ChannelKind::Memory;
    addToBlock(block, std::move(event), thread);
  }
}

void Builder::semaphores(Block &block, const Op &op) {
  for (uint32_t thread = 0; thread < op.semaphores.size(); ++thread) {
    Event event = at(block, op.kind == OpKind::Acquire ? Step::Acquire : Step::Release);
    event.counter = counterOf(block.gpu, ChannelKind::None, op.semaphores[thread]);
    addToBlock(block, std::move(event), thread);
  }
}

/// The half of a double scratch buffer is added to local addresses and to those of packets.
Location Builder::locate(const Block &block, const ChunkRange &range, uint32_t gpu, uint32_t cell,
                         const Part &part, bool packets, bool isLocalPointer) const {
  uint32_t half = packets || isLocalPointer ? block.half : 0;
  if (packets)
    return memory_.packet(gpu, range.index, cell, half);
  return part.inPipeline ? memory_.wrapped(gpu, range.buffer, range.index, cell, half)
                         : memory_.cell(gpu, range.buffer, range.index, cell, half);
}

void Builder::access(Event &event, const Block &block, const ChunkRange &range, uint32_t cell,
                     const Part &part, bool packets, AccessKind kind) const {
  bool isLocal = !range.isSwitch && range.gpus.front() == block.gpu;
  for (uint32_t gpu : range.gpus)
    event.accesses.push_back({locate(block, range, gpu, cell, part, packets, isLocal), kind});
}

void Builder::read(Event &event, const Block &block, const ChunkRange &range, uint32_t cell,
                   const Part &part, bool packets) const {
  access(event, block, range, cell, part, packets,
         packets ? AccessKind::PacketRead : AccessKind::Read);
}

void Builder::write(Event &event, const Block &block, const ChunkRange &range, uint32_t cell,
                    const Part &part, bool packets) const {
  access(event, block, range, cell, part, packets,
         packets ? AccessKind::PacketWrite : AccessKind::Write);
}

// Puts and gets: each destination has a source of its own.
void Builder::move(Block &block, const Op &op, const Part &part) {
  bool packets = op.kind == OpKind::PutPackets;
  for (size_t i = 0; i < op.destinations.size(); ++i) {
    uint32_t cells = op.sources[i].size * memory_.perChunk();
    Part own = part.inPipeline
                   ? part
                   : Part{cells * op.slice / op.slices, cells * (op.slice + 1) / op.slices, false};
    for (uint32_t cell = own.begin; cell < own.end; ++cell) {
      Event event = at(block, Step::Data);
      read(event, block, op.sources[i], cell, own, false);
      write(event, block, op.destinations[i], cell, own, packets);
      addToBlock(block, std::move(event));
    }
  }
}

// Reductions and copies: the sum of all sources goes to all destinations. Which thread serves a
// cell is left open.
void Builder::combine(Block &block, const Op &op, const Part &part) {
  bool onlyPackets = op.kind == OpKind::ReadPutPackets || op.kind == OpKind::UnpackPackets ||
                     op.kind == OpKind::SwitchStorePackets;
  bool packetSources =
      onlyPackets || op.kind == OpKind::ReducePackets || op.kind == OpKind::ReduceSendPackets ||
      op.kind == OpKind::ReduceCopyPackets || op.kind == OpKind::ReduceCopySendPackets;
  bool packetCopies = op.kind == OpKind::ReadPutPackets || op.kind == OpKind::CopyPackets ||
                      op.kind == OpKind::SwitchStorePackets;
  for (uint32_t cell = part.begin; cell < part.end; ++cell) {
    Event event = at(block, Step::Data);
    for (size_t i = 0; i < op.sources.size(); ++i)
      read(event, block, op.sources[i], cell, part, packetSources && (onlyPackets || i > 0));
    for (size_t i = 0; i < op.destinations.size(); ++i)
      write(event, block, op.destinations[i], cell, part,
            packetCopies || (packetSources && op.kind != OpKind::UnpackPackets && i > 0));
    addToBlock(block, std::move(event));
  }
}

// A thread per destination pushes a request; the proxy reads the source later, and writes.
void Builder::putOverPort(Block &block, const Op &op, const Part &part) {
  bool packets = usesPackets(op.kind);
  if (op.kind == OpKind::ReadPutPackets) { // all threads wait for the packets, then meet
    for (uint32_t cell = part.begin; cell < part.end; ++cell) {
      Event event = at(block, Step::Data);
      read(event, block, op.sources.front(), cell, part, true);
      addToBlock(block, std::move(event));
    }
    sync(block);
  }
  for (uint32_t thread = 0; thread < op.destinations.size(); ++thread) {
    const ChunkRange &from = op.sources[op.kind == OpKind::ReadPutPackets ? 0 : thread];
    EventId push = addToBlock(block, at(block, Step::Push), thread);
    uint32_t cells = from.size * memory_.perChunk();
    Part own = part.inPipeline
                   ? part
                   : Part{cells * op.slice / op.slices, cells * (op.slice + 1) / op.slices, false};
    std::vector<EventId> reads;
    for (uint32_t cell = own.begin; cell < own.end; ++cell) {
      Event reading = at(block, Step::Data);
      reading.accesses.push_back({locate(block, from, block.gpu, cell, own, packets, false),
                                  packets ? AccessKind::CopyRead : AccessKind::Read});
      reading.before.push_back(push);
      reads.push_back(add(std::move(reading)));
      Event writing = at(block, Step::Data);
      write(writing, block, op.destinations[thread], cell, own, packets);
      if (!packets)
        writing.accesses.back().location =
            locate(block, op.destinations[thread], op.destinations[thread].gpus.front(), cell, own,
                   false, false);
      writing.valueFrom = reads.back();
      writing.before.push_back(reads.back());
      block.portRequests[op.channels[thread]].push_back(
          {add(std::move(writing)), thread, block.segment});
    }
    if (op.kind == OpKind::PutSignal || op.kind == OpKind::PutSignalFlush)
      pushSignal(block, op, op.channels[thread], thread, push);
    if (op.kind == OpKind::PutSignalFlush) {
      Event flushed = at(block, Step::Flushed);
      flushed.before = reads;
      addToBlock(block, std::move(flushed), thread);
    }
  }
}

} // namespace

Result<Events> buildEvents(const Plan &plan, const Memory &memory, uint32_t launches) {
  return Builder(plan, memory).build(launches);
}

std::string describe(const Event &event) {
  if (event.step == Step::User)
    return event.launch == 0
               ? concat("the caller on gpu ", event.gpu, " before launch 1")
               : concat("the caller on gpu ", event.gpu, " after launch ", event.launch);
  std::string text = concat("gpu ", event.gpu);
  if (event.block == kNone)
    return text + concat(event.step == Step::Begin ? ", begin of launch " : ", end of launch ",
                         event.launch);
  text += concat(", threadblock ", event.block, ", op ", event.op);
  if (event.member != kNone)
    text += concat(".", event.member);
  text += concat(" '", spelling(event.kind), "'");
  if (event.iteration != kNone)
    text += concat(", iteration ", event.iteration);
  return text + concat(", launch ", event.launch);
}

} // namespace colldsl::mscclpp
