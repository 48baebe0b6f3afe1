#include "transports/shm/FifoReceiver.h"

#include <cstring>
#include <new>

namespace colldsl::shm {

using rendezvous::State;
using rendezvous::wordOf;

namespace {

// Polls of the canary for each look at the word, which finds a payload that itself ends in the
// canary.
constexpr uint32_t kCanaryPollsPerWord = 8;

} // namespace

void FifoReceiver::connect(uint64_t offset) {
  header_ = reinterpret_cast<FifoHeader *>(world_.at(offset));
  slots_ = reinterpret_cast<const Slot *>(header_ + 1);
  ring_ = reinterpret_cast<const std::byte *>(slots_ + kSlots);
}

// Slots are stamped in their order: with the last one all are here.
bool FifoReceiver::isWhole(const Slot &slot) const {
  uint32_t slots = slotsOf(slot);
  return slots == 1 || awaitContinuation(taken_ + slots - 1);
}

// The next slot is mostly a moment away. If its sender has lost its core, nothing is taken, and the
// next progress() starts over.
const ContinuationSlot *FifoReceiver::awaitContinuation(uint32_t position) const {
  const auto &next = reinterpret_cast<const ContinuationSlot &>(slots_[position % kSlots]);
  for (uint32_t polls = kPollsForMore; polls > 0; --polls)
    if (next.stamp.load(std::memory_order_acquire) == position + 1)
      return &next;
  return nullptr;
}

// Copies slot by slot, while the last ones may still be on their way. False: they do not come soon.
bool FifoReceiver::unpack(std::byte *to, const Slot &slot) const {
  std::memcpy(to, slot.body.data, kSlotInlineBytes);
  to += kSlotInlineBytes;
  uint32_t position = taken_;
  for (uint64_t left = slot.inlineBytes - kSlotInlineBytes; left > 0;) {
    const ContinuationSlot *next = awaitContinuation(++position);
    if (!next)
      return false;
    uint64_t here = std::min<uint64_t>(left, kContinuationBytes);
    if (here == kContinuationBytes)
      std::memcpy(to, next->data, kContinuationBytes); // no call
    else
      std::memcpy(to, next->data, here);
    to += here;
    left -= here;
  }
  return true;
}

// `room` has kLongestInlineBytes.
const std::byte *FifoReceiver::flatten(const Slot &slot, std::byte *room) const {
  if (slot.inlineBytes <= kSlotInlineBytes)
    return slot.body.data;
  unpack(room, slot);
  return room;
}

bool FifoReceiver::tryTakeSlots(const Slot &slot, const Payload &payload) {
  std::byte room[kLongestInlineBytes];
  bool isFlat = payload.count == 1;
  if (!unpack(isFlat ? static_cast<std::byte *>(payload.pieces[0].iov_base) : room, slot))
    return false;
  if (!isFlat)
    scatterShort(payload, room);
  advance(slotsFor(slot.inlineBytes));
  return true;
}

// Frees the bytes at once, because a ring without free bytes for long would stop the fragments of a
// message.
void FifoReceiver::freeBytes(const Slot &slot) {
  header_->bytesConsumed.store(slot.body.ring.end, std::memory_order_release);
  world_.wake(peer_);
}

void FifoReceiver::publish() {
  published_ = taken_;
  header_->slotsConsumed.store(taken_, std::memory_order_release);
  world_.wake(peer_);
}

bool FifoReceiver::isCancelled(const Rts &rts) const {
  return stateOf(rts).load(std::memory_order_acquire) != wordOf(rts.use, State::Requested);
}

void FifoReceiver::leave(const Rts &rts, State state) {
  rendezvous::leave(stateOf(rts), rts.use, state);
  world_.wake(peer_);
}

void FifoReceiver::sendRtr(const Rts &rts, const RemoteBuffer &buffer) {
  replyOf(rts).buffer = buffer;
  leave(rts, State::RtrSent);
}

void FifoReceiver::startCooperation(const Rts &rts, const RemoteBuffer &buffer) {
  Reply &reply = replyOf(rts);
  reply.buffer = buffer;
  cooperative::begin(reply.parts);
  leave(rts, State::Cooperating);
}

void FifoReceiver::endCooperation(const Rts &rts, cooperative::Outcome outcome) {
  rendezvous::endCooperation(stateOf(rts), rts.use, outcome);
  world_.wake(peer_);
}

void FifoReceiver::refuse(const Rts &rts) {
  rendezvous::refuse(stateOf(rts), rts.use);
  world_.wake(peer_);
}

StaticRtr *FifoReceiver::makeStaticRtrs(StreamId stream, uint32_t count) {
  uint64_t offset = arena_.allocate(count * sizeof(StaticRtr));
  if (offset == Arena::kNoRoom)
    return nullptr;
  staticRtrs_.push_back({stream, offset, count});
  posted_.reserve(numStaticRtrs_ += count);
  return new (world_.at(offset)) StaticRtr[count]();
}

void FifoReceiver::releaseStream(StreamId stream) {
  std::erase_if(staticRtrs_, [&](const StreamRtrs &made) {
    if (made.stream != stream)
      return false;
    arena_.release(made.offset);
    numStaticRtrs_ -= made.count;
    return true;
  });
}

// Writes the canary where a put ends, before the sender can find the RTR.
void FifoReceiver::expectStatic(const Tag &tag, const RequestPayload &payload, bool mayReach) {
  StaticEnd &end = *payload.fixed;
  StaticRtr &rtr = *end.rtr;
  RemoteBuffer buffer = remoteBufferOf(payload);
  end.run = tag.run;
  if (!end.isPut) {
    end.isPosted = true;
    posted_.push_back({tag, &end});
    return;
  }
  mayReach = mayReach && end.isWriterNamed;
  bool isDeclined = payload.bytes == 0 || !(buffer.isShared || mayReach);
  if ((rtr.isDeclined.load(std::memory_order_relaxed) != 0) != isDeclined)
    rtr.isDeclined.store(isDeclined, std::memory_order_relaxed);
  if (isDeclined)
    return;
  end.canaryBytes = 0;
  end.polls = 0;
  if (end.usesCanary && buffer.isShared) {
    auto *begin = static_cast<std::byte *>(payload.pieces[0].iov_base);
    end.canaryBytes = canaryBytesOf(begin, payload.bytes);
    end.canaryAt = begin + payload.bytes - end.canaryBytes;
    storeAtOnce(end.canaryAt, kCanary, end.canaryBytes);
  }
  rtr.bytes = payload.bytes;
  rtr.reply.buffer = buffer;
  rtr.canaryBytes = end.canaryBytes;
  end.isPosted = true;
  posted_.push_back({tag, &end});
  rendezvous::leave(rtr.reply.state, tag.run, State::RtrSent);
  world_.wake(peer_);
}

// The word is in a cache line of its own, which stays with the sender while the last bytes tell.
bool FifoReceiver::hasComePut(StaticEnd &end) {
  if (end.canaryBytes != 0) {
    if (!isCanary(end.canaryAt, end.canaryBytes))
      return true;
    if (++end.polls % kCanaryPollsPerWord != 0)
      return false;
  }
  return end.rtr->reply.state.load(std::memory_order_acquire) == wordOf(end.run, State::Done);
}

// Ends a posted RTR: the sender has sent the payload in another way, and does not look for the RTR
// of this run any more; or the receive is cancelled.
void FifoReceiver::retireStatic(StaticEnd &end) {
  end.isPosted = false;
  std::erase_if(posted_, [&](const Posted &posted) { return posted.end == &end; });
}

std::optional<Rts> FifoReceiver::claimRts(StaticRtr &rtr, uint32_t run) const {
  std::atomic<uint32_t> &state = rtr.reply.state;
  if (state.load(std::memory_order_relaxed) != wordOf(run, State::Requested) ||
      !rendezvous::claim(state, run)) // acquires the sender's fields
    return std::nullopt;
  return Rts{rtr.bytes, rtr.reply.buffer, *world_.offsetOf(&rtr, sizeof rtr), run, {}};
}

GetResult FifoReceiver::get(const RemoteBuffer &from, uint64_t offset, const Payload &to) {
  if (from.isShared) // it was not mapped
    return world_.lentMemory().read(from.address + offset, to) ? GetResult::Done
                                                               : GetResult::Refused;
  if (isSelf_) {
    auto *pieces = reinterpret_cast<const iovec *>(from.address);
    copyPieces(to, {pieces, from.pieces, false, false, to.bytes}, to.bytes);
    return GetResult::Done;
  }
  pid_t process = world_.control(peer_).pid.load(std::memory_order_relaxed);
  cma::Outcome outcome = cma::read({process, from.address + offset, from.pieces, to.bytes}, to);
  canReach_ = canReach_ && outcome != cma::Outcome::Forbidden;
  return outcome == cma::Outcome::Copied ? GetResult::Done : GetResult::Refused;
}

} // namespace colldsl::shm
