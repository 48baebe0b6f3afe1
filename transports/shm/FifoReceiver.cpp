#include "transports/shm/FifoReceiver.h"

#include <cstring>

namespace colldsl::shm {

using rendezvous::State;
using rendezvous::wordOf;

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

// The next slot is mostly a moment away. Its sender may have lost its core, though: then nothing is
// taken, and the next progress() starts over.
const ContinuationSlot *FifoReceiver::awaitContinuation(uint32_t position) const {
  const auto &next = reinterpret_cast<const ContinuationSlot &>(slots_[position % kSlots]);
  for (uint32_t polls = kPollsForMore; polls > 0; --polls)
    if (next.stamp.load(std::memory_order_acquire) == position + 1)
      return &next;
  return nullptr;
}

// Slot by slot, while the last ones may still be on their way. False: they do not come soon.
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

// A ring of which nothing is free for long would stop the fragments of a message.
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
  reinterpret_cast<Reply *>(world_.at(rts.reply))->buffer = buffer;
  leave(rts, State::RtrSent);
}

void FifoReceiver::refuse(const Rts &rts) {
  rendezvous::refuse(stateOf(rts), rts.use);
  world_.wake(peer_);
}

GetResult FifoReceiver::get(const RemoteBuffer &from, uint64_t offset, const Payload &to) {
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
