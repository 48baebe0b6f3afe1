#include "transports/shm/FifoSender.h"

#include "transports/Processor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace colldsl::shm {
namespace {

using rendezvous::State;
using rendezvous::wordOf;

constexpr uint64_t roundUp(uint64_t bytes) {
  return (bytes + kSlotBytes - 1) & ~uint64_t{kSlotBytes - 1};
}

} // namespace

RemoteBuffer remoteBufferOf(const World &world, const Payload &payload) {
  if (payload.count != 1)
    return {reinterpret_cast<uint64_t>(payload.pieces), payload.count, false};
  void *bytes = payload.pieces[0].iov_base;
  std::optional<uint64_t> shared = world.offsetOf(bytes, payload.bytes);
  return {shared ? *shared : reinterpret_cast<uint64_t>(bytes), 1, shared.has_value()};
}

FifoSender::FifoSender(World &world, Rank peer, uint64_t offset, const FifoOptions &options,
                       bool &canReach, Arena &arena)
    : world_(world), peer_(peer), options_(options), canReach_(canReach), arena_(arena),
      header_(reinterpret_cast<FifoHeader *>(world.at(offset))),
      slots_(reinterpret_cast<Slot *>(header_ + 1)),
      ring_(reinterpret_cast<std::byte *>(slots_ + kSlots)) {}

bool FifoSender::refreshSlots(uint32_t slots) {
  consumedSeen_ = header_->slotsConsumed.load(std::memory_order_acquire);
  throttledSeen_ = isThrottled();
  return produced_ + slots - consumedSeen_ <= kSlots;
}

bool FifoSender::trySendLonger(const Tag &tag, const Payload &payload) {
  if (payload.bytes > options_.slotsBytes)
    return hasSlots(1) && sendInRing(tag, SlotKind::Eager, payload, 0, payload.bytes, 0);
  if (!hasSlots(slotsFor(payload.bytes)))
    return false;
  sendInSlots(tag, payload);
  return true;
}

// The first slot goes first: the receiver fetches the others while they are written.
void FifoSender::sendInSlots(const Tag &tag, const Payload &payload) {
  std::byte packed[kLongestInlineBytes];
  const std::byte *from = packed;
  if (payload.count == 1)
    from = static_cast<const std::byte *>(payload.pieces[0].iov_base);
  else
    gatherShort(packed, payload);
  uint64_t left = payload.bytes - kSlotInlineBytes;
  Slot &slot = fill(tag, SlotKind::Inline);
  slot.inlineBytes = static_cast<uint16_t>(payload.bytes);
  std::memcpy(slot.body.data, from, kSlotInlineBytes);
  from += kSlotInlineBytes;
  slot.stamp.store(++produced_, std::memory_order_release);
  for (; left > kContinuationBytes; left -= kContinuationBytes, from += kContinuationBytes) {
    ContinuationSlot &next = nextContinuation();
    std::memcpy(next.data, from, kContinuationBytes);
    next.stamp.store(++produced_, std::memory_order_release);
  }
  ContinuationSlot &last = nextContinuation();
  std::memcpy(last.data, from, left);
  last.stamp.store(++produced_, std::memory_order_release);
  world_.wake(peer_);
}

// Bytes of one slot lie together: the sender skips the rest of the ring's end if they do not fit
// there.
bool FifoSender::sendInRing(const Tag &tag, SlotKind kind, const Payload &payload, uint64_t offset,
                            uint64_t bytes, uint16_t id) {
  uint64_t size = options_.ringBytes, place = bytesProduced_ % size, skip = 0;
  if (place + bytes > size) {
    skip = size - place;
    place = 0;
  }
  uint64_t end = bytesProduced_ + skip + roundUp(bytes);
  if (end - bytesConsumedSeen_ > size) {
    bytesConsumedSeen_ = header_->bytesConsumed.load(std::memory_order_acquire);
    if (end - bytesConsumedSeen_ > size)
      return false;
  }
  uint64_t first = kind == SlotKind::Eager ? std::min<uint64_t>(bytes, kEagerPartBytes) : bytes;
  gather(ring_ + place, payload, offset, first);
  bytesProduced_ = end;
  Slot &slot = fill(tag, kind);
  slot.rendezvousId = id;
  RingBody &ring = slot.body.ring;
  ring.end = end;
  ring.offset = static_cast<uint32_t>(place);
  ring.bytes = static_cast<uint32_t>(bytes);
  ring.written.store(static_cast<uint32_t>(first), std::memory_order_relaxed);
  commit(slot);
  if (first < bytes)
    writeRest(ring_ + place, ring, payload, offset);
  ownRingAhead(bytes);
  return true;
}

// A receiver that has slept since the first part is woken for the last one.
void FifoSender::writeRest(std::byte *to, RingBody &ring, const Payload &payload, uint64_t offset) {
  for (uint32_t written = kEagerPartBytes; written < ring.bytes;) {
    uint32_t bytes = std::min(ring.bytes - written, kEagerPartBytes);
    gather(to + written, payload, offset + written, bytes);
    written += bytes;
    ring.written.store(written, std::memory_order_release);
  }
  world_.wake(peer_);
}

// The receiver has read the bytes ahead: to write to them this core must own their cache lines,
// each of which takes a way to the other core and back. The prefetch begins that now, for a next
// message of the same length.
void FifoSender::ownRingAhead(uint64_t bytes) {
  constexpr uint64_t kMax = 8 << 10;
  for (uint64_t ahead = 0; ahead < std::min(bytes, kMax); ahead += kSlotBytes)
    prefetchToWrite(&ring_[(bytesProduced_ + ahead) % options_.ringBytes]);
}

bool FifoSender::makeIds() {
  size_t first = ids_.size(), end = first + kIdsAtOnce;
  if (end > std::numeric_limits<uint16_t>::max())
    return false;
  uint64_t offset = arena_.allocate(kIdsAtOnce * sizeof(Reply));
  if (offset == Arena::kNoRoom)
    return false;
  auto *replies = new (world_.at(offset)) Reply[kIdsAtOnce]();
  freeIds_.reserve(end);
  for (size_t id = first; id < end; ++id) {
    ids_.push_back({replies + (id - first)});
    freeIds_.push_back(static_cast<uint16_t>(id));
  }
  return true;
}

void FifoSender::reserve(uint32_t ids) {
  while (ids_.size() < ids && makeIds()) {
  }
}

bool FifoSender::trySendRts(const Tag &tag, const Payload &payload, Mover,
                            rendezvous::SenderLoad load, uint16_t &id) {
  if (!hasSlots(1) || (freeIds_.empty() && !makeIds()))
    return false;
  id = freeIds_.back();
  freeIds_.pop_back();
  const auto &[reply, use] = ids_[id];
  Slot &slot = fill(tag, SlotKind::Rts);
  slot.rendezvousId = id;
  slot.body.rts = {payload.bytes, remoteBufferOf(world_, payload),
                   *world_.offsetOf(reply, sizeof(Reply)), use, load};
  commit(slot);
  return true;
}

FifoSender::Replied FifoSender::replyTo(uint16_t id) const {
  const auto &[reply, use] = ids_[id];
  uint32_t state = reply->state.load(std::memory_order_acquire);
  return state == wordOf(use, State::Done)        ? Replied::Fin
         : state == wordOf(use, State::Fragments) ? Replied::Fragments
         : state == wordOf(use, State::RtrSent) || state == wordOf(use, State::Cooperating)
             ? Replied::Rtr
             : Replied::Nothing;
}

// The receiver withdraws its buffer by changing the word first.
FifoSender::PutResult FifoSender::put(const Tag &tag, const Payload &payload, uint16_t id) {
  const auto &[reply, use] = ids_[id];
  if (!hasSlots(1))
    return PutResult::NotNow;
  if (reply->state.load(std::memory_order_acquire) == wordOf(use, State::Cooperating))
    return putParts(tag, payload, id);
  if (!rendezvous::claimWrite(reply->state, use))
    return PutResult::NotNow;
  if (writeTo(reply->buffer, payload) != cma::Outcome::Copied) {
    rendezvous::leave(reply->state, use, State::Fragments);
    return PutResult::Refused;
  }
  rendezvous::leave(reply->state, use, State::Done);
  notifyPut(tag, id);
  return PutResult::Done;
}

void FifoSender::notifyPut(const Tag &tag, uint16_t id) {
  Slot &slot = fill(tag, SlotKind::Put);
  slot.rendezvousId = id;
  commit(slot);
}

// Puts parts of a payload in one piece, until all parts are claimed.
FifoSender::PutResult FifoSender::putParts(const Tag &tag, const Payload &payload, uint16_t id) {
  using cooperative::End, cooperative::Outcome;
  const auto &[reply, use] = ids_[id];
  const cooperative::Parts parts(payload.bytes);
  Outcome outcome = Outcome::Pending;
  while (outcome == Outcome::Pending) {
    std::optional<cooperative::Claim> claim =
        cooperative::claim(reply->parts, End::Sender, parts.count);
    if (!claim)
      return PutResult::NotNow;
    uint64_t offset = parts.beginOf(*claim), bytes = parts.bytesOf(*claim);
    iovec piece{static_cast<std::byte *>(payload.pieces[0].iov_base) + offset, bytes};
    RemoteBuffer to = reply->buffer;
    to.address += offset;
    bool isCopied = writeTo(to, {&piece, 1, false, false, bytes}) == cma::Outcome::Copied;
    outcome = cooperative::leave(reply->parts, End::Sender, parts.count, isCopied);
  }
  bool isEnded = rendezvous::endCooperation(reply->state, use, outcome);
  if (!isEnded || outcome == Outcome::Closed)
    return PutResult::Refused;
  notifyPut(tag, id);
  return PutResult::Done;
}

cma::Outcome FifoSender::writeTo(const RemoteBuffer &buffer, const Payload &payload) {
  if (buffer.isShared) {
    std::byte *to = world_.reach(buffer.address);
    if (to)
      gather(to, payload, 0, payload.bytes);
    else if (!world_.lentMemory().write(buffer.address, payload))
      return cma::Outcome::BadAddress;
    return cma::Outcome::Copied;
  }
  pid_t process = world_.control(peer_).pid.load(std::memory_order_relaxed);
  cma::Outcome outcome =
      cma::write({process, buffer.address, buffer.pieces, payload.bytes}, payload);
  canReach_ = canReach_ && outcome != cma::Outcome::Forbidden;
  return outcome;
}

void FifoSender::release(uint16_t id) {
  Id &again = ids_[id];
  rendezvous::beginUse(again.reply->state, ++again.use);
  freeIds_.push_back(id);
}

bool FifoSender::cancelRts(uint16_t id) {
  Id &cancelled = ids_[id];
  Reply &reply = *cancelled.reply;
  switch (rendezvous::cancel(reply.state, reply.parts, cancelled.use)) {
  case rendezvous::Cancelled::NotYet:
    if (!world_.isDead(peer_))
      return false;
    break;
  case rendezvous::Cancelled::Awaited:
    cancelled_.push_back(id);
    sendRtsCancelled();
    break;
  case rendezvous::Cancelled::Unnoticed:
    freeIds_.push_back(id);
    break;
  }
  ++cancelled.use;
  return true;
}

bool FifoSender::sendStaticRts(const Tag &tag, const RequestPayload &payload, bool mayReach) {
  StaticRtr *rtr = payload.fixed->rtr;
  RemoteBuffer buffer = remoteBufferOf(world_, payload);
  if (payload.bytes == 0 || !(buffer.isShared || mayReach))
    return false;
  rtr->bytes = payload.bytes;
  rtr->reply.buffer = buffer;
  rendezvous::beginUse(rtr->reply.state, tag.run);
  world_.wake(peer_);
  return true;
}

FifoSender::Replied FifoSender::replyToStatic(const Tag &tag, const RequestPayload &payload) const {
  uint32_t state = payload.fixed->rtr->reply.state.load(std::memory_order_acquire);
  return state == wordOf(tag.run, State::Done)        ? Replied::Fin
         : state == wordOf(tag.run, State::Fragments) ? Replied::Fragments
                                                      : Replied::Nothing;
}

bool FifoSender::cancelStaticRts(const Tag &tag, const RequestPayload &payload) {
  std::atomic<uint32_t> &state = payload.fixed->rtr->reply.state;
  return rendezvous::change(state, tag.run, State::Requested, State::Fragments) ||
         state.load(std::memory_order_acquire) != wordOf(tag.run, State::Reading) ||
         world_.isDead(peer_);
}

// The state word is the flag of a payload that itself ends in the canary.
FifoSender::StaticPut FifoSender::putStatic(const Tag &tag, const RequestPayload &payload) {
  StaticRtr *rtr = payload.fixed->rtr;
  if (!isStaticNow(payload))
    return StaticPut::Refused;
  std::atomic<uint32_t> &state = rtr->reply.state;
  if (state.load(std::memory_order_relaxed) != wordOf(tag.run, State::RtrSent))
    return StaticPut::NotReady;
  if (!rendezvous::claimWrite(state, tag.run)) // acquires the receiver's fields
    return StaticPut::Refused;
  if (rtr->bytes != payload.bytes || !writeStatic(*rtr, payload)) {
    rendezvous::leave(state, tag.run, State::Fragments);
    return StaticPut::Refused;
  }
  rendezvous::change(state, tag.run, State::Writing, State::Done);
  world_.wake(peer_);
  return StaticPut::Done;
}

bool FifoSender::writeStatic(const StaticRtr &rtr, const Payload &payload) {
  if (rtr.canaryBytes == 0)
    return writeTo(rtr.reply.buffer, payload) == cma::Outcome::Copied;
  std::byte *to = world_.reach(rtr.reply.buffer.address);
  if (!to)
    return false;
  uint64_t before = payload.bytes - rtr.canaryBytes, last = 0;
  gather(to, payload, 0, before);
  gather(reinterpret_cast<std::byte *>(&last), payload, before, rtr.canaryBytes);
  storeAtOnce(to + before, last, rtr.canaryBytes);
  return true;
}

void FifoSender::nameStaticRtrs(uint32_t context, uint32_t stream, const StaticRtrs &rtrs) {
  naming_.push_back({{context, stream, 0, 0}, rtrs});
  sendNaming();
}

bool FifoSender::sendNaming() {
  bool moved = false;
  for (; !naming_.empty() && hasSlots(1); moved = true) {
    Slot &slot = fill(naming_.back().first, SlotKind::StaticRtrs);
    slot.body.staticRtrs = naming_.back().second;
    commit(slot);
    naming_.pop_back();
  }
  return moved;
}

// A stream that this rank closes names nothing any more.
void FifoSender::closeStream(uint32_t context, uint32_t stream) {
  std::erase_if(naming_, [&](const auto &named) {
    return named.first.context == context && named.first.stream == stream;
  });
  closing_.push_back({context, stream, 0, 0});
  sendClosing();
}

bool FifoSender::progress() {
  bool moved = sendRtsCancelled();
  moved |= sendNaming();
  return sendClosing() || moved;
}

bool FifoSender::sendClosing() {
  bool moved = false;
  for (; !closing_.empty() && hasSlots(1); moved = true) {
    commit(fill(closing_.back(), SlotKind::CloseStream));
    closing_.pop_back();
  }
  return moved;
}

// A FIFO keeps its order: what uses the id next comes behind this slot.
bool FifoSender::sendRtsCancelled() {
  bool moved = false;
  for (; !cancelled_.empty() && hasSlots(1); moved = true) {
    Slot &slot = fill({}, SlotKind::RtsCancelled);
    slot.rendezvousId = cancelled_.back();
    commit(slot);
    freeIds_.push_back(cancelled_.back());
    cancelled_.pop_back();
  }
  return moved;
}

} // namespace colldsl::shm
