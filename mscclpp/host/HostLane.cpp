#include "mscclpp/host/HostLane.h"

#include "ir/Concat.h"
#include "mscclpp/CheckOp.h"

#include <algorithm>

namespace colldsl::mscclpp {
namespace {

constexpr uint64_t kUnitBytes = 16, kPacketBytes = 8; ///< of payload, that one thread moves at once

std::memory_order acquiring(OpKind kind) {
  return kind == OpKind::RelaxedWait ? std::memory_order_relaxed : std::memory_order_acquire;
}

void put(const ProxyRequest &request) {
  for (uint64_t i = 0; i < request.bytes; i += sizeof(Word))
    storeWord(request.to + i, loadWord(request.from + i));
  if (request.signal)
    request.signal->signals.fetch_add(1, std::memory_order_release);
}

} // namespace

TaskState HostLane::run() {
  hasChanged_ = false;
  while (launch_ <= job_.launches) {
    if (!step())
      return hasChanged_ ? TaskState::WaitsAnew : TaskState::Waits;
    hasChanged_ = true;
    constexpr unsigned kStopsOneIn = 4;
    if (random_() % kStopsOneIn == 0)
      return TaskState::Ready;
  }
  return TaskState::Done;
}

bool HostLane::step() {
  if (op_ == block_.ops->size())
    return endLaunch();
  if (!execute(current()))
    return false;
  next();
  return true;
}

const Op &HostLane::current() const {
  const Op &op = (*block_.ops)[op_];
  bool isInside = op.kind == OpKind::Pipeline && member_ < op.members.size() &&
                  iteration_ < job_.machine.layout().numIterations(op);
  return isInside ? op.members[member_] : op;
}

Unit HostLane::unit() const {
  const Op &op = (*block_.ops)[op_];
  return op.kind == OpKind::Pipeline ? job_.machine.layout().unitOf(op, iteration_) : Unit();
}

void HostLane::next() {
  phase_ = 0;
  move_ = position_ = 0;
  moves_.clear();
  const Op &op = (*block_.ops)[op_];
  if (&current() != &op) {
    if (++member_ == op.members.size()) {
      member_ = 0;
      ++iteration_;
    }
    if (&current() != &op)
      return;
  }
  ++op_;
  member_ = 0;
  iteration_ = 0;
}

// The last thread of a GPU acts for the caller, before the next launch begins there.
bool HostLane::endLaunch() {
  if (phase_ == 0) {
    phase_ = 1;
    hasChanged_ = true;
    if (gpu_.running.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      job_.caller.check(block_.gpu, launch_);
      if (launch_ < job_.launches)
        job_.caller.prepare(block_.gpu, launch_ + 1);
      gpu_.running.store(gpu_.threads, std::memory_order_relaxed);
      gpu_.launch.store(launch_ + 1, std::memory_order_release);
    }
  }
  if (gpu_.launch.load(std::memory_order_acquire) == launch_)
    return false;
  ++launch_;
  phase_ = 0;
  op_ = 0;
  return true;
}

bool HostLane::execute(const Op &op) {
  switch (op.kind) {
  case OpKind::Nop:
    return meetThreads();
  case OpKind::Barrier:
    return barrier(op);
  case OpKind::Signal:
  case OpKind::RelaxedSignal:
    signal(op);
    return true;
  case OpKind::Wait:
  case OpKind::RelaxedWait:
    return wait(op);
  case OpKind::Flush:    // see Events.cpp
  case OpKind::Pipeline: // of no iterations
    return true;
  case OpKind::Acquire:
    return acquire(op);
  case OpKind::Release:
    release(op);
    return true;
  case OpKind::Put:
  case OpKind::PutSignal:
  case OpKind::PutSignalFlush:
  case OpKind::PutPackets:
    return op.channelKind == ChannelKind::Port ? putOverPort(op) : moveData(op);
  case OpKind::ReadPutPackets:
    return op.channelKind == ChannelKind::Port ? readPutPackets(op) : moveData(op);
  case OpKind::Get:
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
    return moveData(op);
  }
  return true;
}

bool HostLane::meet(Meeting &meeting, uint32_t count) {
  if (!hasArrived_) {
    ticket_ = meeting.round.load(std::memory_order_acquire);
    hasChanged_ = true;
    if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count) {
      meeting.arrived.store(0, std::memory_order_relaxed);
      meeting.round.fetch_add(1, std::memory_order_release);
      return true;
    }
    hasArrived_ = true;
  }
  if (meeting.round.load(std::memory_order_acquire) == ticket_)
    return false;
  hasArrived_ = false;
  return true;
}

// Threads meet, one of them meets the other threadblocks, and they meet again.
bool HostLane::barrier(const Op &op) {
  for (; phase_ < 3; ++phase_) {
    bool isBetween = phase_ == 1;
    if (isBetween && (lane_ != 0 || op.barrierSize == 1))
      continue;
    if (!(isBetween ? meet(gpu_.barriers[op.barrier], op.barrierSize) : meetThreads()))
      return false;
  }
  return true;
}

void HostLane::signal(const Op &op) {
  if (lane_ >= op.channels.size())
    return;
  SignalCounter *counter = job_.machine.peerOf(block_.gpu, op.channelKind, op.channels[lane_]);
  if (op.channelKind == ChannelKind::Port)
    gpu_.proxy.push({nullptr, nullptr, 0, counter});
  else if (counter)
    counter->signals.fetch_add(1, op.kind == OpKind::RelaxedSignal ? std::memory_order_relaxed
                                                                   : std::memory_order_release);
}

bool HostLane::wait(const Op &op) {
  if (lane_ >= op.channels.size())
    return true;
  SignalCounter &counter = gpu_.channels(op.channelKind)[op.channels[lane_]];
  if (phase_ == 0) {
    ticket_ = counter.waits.fetch_add(1, std::memory_order_relaxed) + 1;
    phase_ = 1;
  }
  return counter.signals.load(acquiring(op.kind)) >= ticket_;
}

bool HostLane::acquire(const Op &op) {
  if (lane_ >= op.semaphores.size())
    return true;
  std::atomic<int64_t> &semaphore = gpu_.semaphores[op.semaphores[lane_]];
  int64_t value = semaphore.load(std::memory_order_relaxed);
  while (value > 0)
    if (semaphore.compare_exchange_weak(value, value - 1, std::memory_order_acquire))
      return true;
  return false;
}

void HostLane::release(const Op &op) {
  if (lane_ < op.semaphores.size())
    gpu_.semaphores[op.semaphores[lane_]].fetch_add(1, std::memory_order_release);
}

uint64_t HostLane::half() const {
  bool isSecond = job_.machine.plan().doubleScratch && launch_ % 2 == 0;
  return isSecond ? job_.machine.layout().scratchHalf(block_.gpu) : 0;
}

/// The half of a double scratch buffer is added to local addresses and to those of packets.
HostLane::End HostLane::endOf(const Op &op, const ChunkRange &range, uint32_t gpu, bool isPacket,
                              bool isLocalPointer) const {
  Piece piece = job_.machine.layout().piece(op, range, gpu, unit());
  bool hasHalf = range.buffer == Buffer::Scratch && (isPacket || isLocalPointer);
  return {job_.machine.at(gpu, range.buffer,
                          piece.offset * (isPacket ? 2 : 1) + (hasHalf ? half() : 0)),
          isPacket};
}

void HostLane::addEnds(const Op &op, bool isSource, size_t position, std::vector<End> &into) const {
  const ChunkRange &range = (isSource ? op.sources : op.destinations)[position];
  bool isPacket = isPacketRange(op, isSource, position);
  for (uint32_t gpu : range.gpus)
    into.push_back(endOf(op, range, gpu, isPacket, !range.isSwitch && !range.isRemote));
}

std::vector<HostLane::Move> HostLane::movesOf(const Op &op) const {
  std::vector<Move> moves;
  const PlanLayout &layout = job_.machine.layout();
  auto add = [&](size_t first) {
    const ChunkRange &range = op.sources[first];
    moves.push_back({{}, {}, layout.piece(op, range, range.gpus.front(), unit()).length});
  };
  if (movesPairs(op.kind)) {
    for (size_t i = 0; i < op.sources.size(); ++i) {
      add(i);
      addEnds(op, true, i, moves.back().from);
      addEnds(op, false, i, moves.back().to);
    }
    return moves;
  }
  add(0);
  for (size_t i = 0; i < op.sources.size(); ++i)
    addEnds(op, true, i, moves.back().from);
  for (size_t i = 0; i < op.destinations.size(); ++i)
    addEnds(op, false, i, moves.back().to);
  return moves;
}

bool HostLane::moveData(const Op &op) {
  if (phase_ == 0)
    moves_ = movesOf(op);
  phase_ = 1;
  for (; move_ < moves_.size(); ++move_, position_ = 0)
    if (!moveUnits(moves_[move_], usesPackets(op.kind) ? kPacketBytes : kUnitBytes))
      return false;
  return true;
}

bool HostLane::moveUnits(const Move &move, uint64_t unitBytes) {
  // The first unit differs from op to op, as no thread is known to serve a unit.
  uint64_t first = (lane_ + op_ + member_) % block_.lanes;
  for (;; ++position_) {
    uint64_t at = (first + position_ * block_.lanes) * unitBytes;
    if (at >= move.bytes)
      return true;
    uint64_t bytes = std::min(unitBytes, move.bytes - at);
    if (!havePacketsCome(move, at, bytes))
      return false;
    moveUnit(move, at, bytes);
    hasChanged_ = true;
  }
}

bool HostLane::havePacketsCome(const Move &move, uint64_t at, uint64_t bytes) const {
  for (const End &from : move.from)
    for (uint64_t i = at; from.isPacket && i < at + bytes; i += sizeof(Word))
      if (loadPacket(from.at + 2 * i) >> 32 != launch_)
        return false;
  return true;
}

void HostLane::moveUnit(const Move &move, uint64_t at, uint64_t bytes) const {
  for (uint64_t i = at; i < at + bytes; i += sizeof(Word)) {
    Word sum = 0;
    for (const End &from : move.from)
      sum += from.isPacket ? static_cast<Word>(loadPacket(from.at + 2 * i)) : loadWord(from.at + i);
    for (const End &to : move.to)
      if (to.isPacket)
        storePacket(to.at + 2 * i, sum, launch_);
      else
        storeWord(to.at + i, sum);
  }
}

// All threads wait for their packets, and meet, before one for each destination pushes a request.
bool HostLane::readPutPackets(const Op &op) {
  if (phase_ == 0) {
    moves_ = movesOf(op);
    moves_.front().to.clear();
    phase_ = 1;
  }
  if (phase_ == 1) {
    if (!moveUnits(moves_.front(), kPacketBytes))
      return false;
    phase_ = 2;
  }
  if (phase_ == 2) {
    if (!meetThreads())
      return false;
    phase_ = 0;
  }
  return putOverPort(op);
}

bool HostLane::putOverPort(const Op &op) {
  if (lane_ >= op.destinations.size())
    return true;
  bool isPacket = usesPackets(op.kind);
  if (phase_ == 0) {
    const ChunkRange &from = op.sources[op.kind == OpKind::ReadPutPackets ? 0 : lane_];
    const ChunkRange &to = op.destinations[lane_];
    uint64_t bytes =
        job_.machine.layout().piece(op, from, block_.gpu, unit()).length * (isPacket ? 2 : 1);
    bool isSignal = op.kind == OpKind::PutSignal || op.kind == OpKind::PutSignalFlush;
    ticket_ = gpu_.proxy.push(
        {endOf(op, from, block_.gpu, isPacket, false).at,
         endOf(op, to, to.gpus.front(), isPacket, false).at, bytes,
         isSignal ? job_.machine.peerOf(block_.gpu, op.channelKind, op.channels[lane_]) : nullptr});
    phase_ = 1;
    hasChanged_ = true;
  }
  return op.kind != OpKind::PutSignalFlush ||
         gpu_.proxy.served.load(std::memory_order_acquire) >= ticket_;
}

TaskState HostProxy::run() {
  ProxyQueue &queue = gpu_.proxy;
  bool isLast = gpu_.launch.load(std::memory_order_acquire) > job_.launches;
  ProxyRequest request;
  {
    std::lock_guard lock(queue.mutex);
    if (queue.requests.empty())
      return isLast ? TaskState::Done : TaskState::Waits;
    constexpr unsigned kWaitsOneIn = 2; // "at any time later"
    if (random_() % kWaitsOneIn == 0)
      return TaskState::Ready;
    request = queue.requests.front();
    queue.requests.pop_front();
  }
  put(request);
  queue.served.fetch_add(1, std::memory_order_release);
  return TaskState::Ready;
}

TaskWait HostLane::describeWait() const {
  if (op_ == block_.ops->size())
    return {};
  const Op &op = current();
  std::string waits = waitWords(op);
  if (waits.empty())
    return {};
  bool isMember = &op != &(*block_.ops)[op_];
  return {launch_, concat("gpu ", block_.gpu, ", threadblock ", block_.block, ", op ", op_,
                          isMember ? concat(".", member_) : std::string(), " '", spelling(op.kind),
                          "'", isMember ? concat(", iteration ", iteration_) : std::string(),
                          ", launch ", launch_, " waits ", waits)};
}

/// Empty: the thread waits for others of its block.
std::string HostLane::waitWords(const Op &op) const {
  const Gpu &gpu = job_.machine.plan().gpus[block_.gpu];
  if ((op.kind == OpKind::Wait || op.kind == OpKind::RelaxedWait) && lane_ < op.channels.size()) {
    uint32_t channel = op.channels[lane_];
    return concat("at gpu ", block_.gpu, "'s ", spelling(op.channelKind), " channel ", channel,
                  " from gpu ", gpu.channels(op.channelKind)[channel].peer, " for signal ",
                  ticket_);
  }
  if (op.kind == OpKind::Acquire && lane_ < op.semaphores.size())
    return concat("at semaphore ", op.semaphores[lane_], " of gpu ", block_.gpu);
  if (op.kind == OpKind::Barrier && phase_ == 1)
    return concat("at barrier ", op.barrier, " for ", op.barrierSize, " threadblocks");
  for (size_t i = 0; move_ < moves_.size() && i < op.sources.size(); ++i) {
    uint64_t chunk = position_ * block_.lanes * kPacketBytes /
                     std::max<uint64_t>(job_.machine.layout().chunkBytes(), 1);
    if (isPacketRange(op, true, i))
      return concat("for packets of gpu ", block_.gpu, " scratch[", op.sources[i].index + chunk,
                    "]");
  }
  return {};
}

} // namespace colldsl::mscclpp
