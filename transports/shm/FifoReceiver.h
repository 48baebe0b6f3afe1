/// The receiving end of a shared-memory FIFO.
#pragma once

#include "transports/Pieces.h"
#include "transports/cma/RemoteMemory.h"
#include "transports/shm/FifoSender.h"

#include <algorithm>

namespace colldsl::shm {

/// A message in the ring of bytes, which its sender may still be writing.
class RingMessage {
public:
  RingMessage(const std::byte *begin, const RingBody &ring) : begin_(begin), ring_(ring) {}

  uint64_t bytes() const { return ring_.bytes; }
  const std::byte *begin() const { return begin_; }
  bool isWhole() const { return ring_.written.load(std::memory_order_acquire) == ring_.bytes; }

  /// Hands the message to store(offset, begin, count), in parts as they come. False: the next part
  /// does not come soon, because the sender has lost its core. The parts that were stored come once
  /// more.
  template <typename Store> bool storeParts(Store store) const {
    for (uint32_t stored = 0; stored < ring_.bytes;) {
      uint32_t written = awaitMoreThan(stored);
      if (written == stored)
        return false;
      store(uint64_t{stored}, begin_ + stored, uint64_t{written - stored});
      stored = written;
    }
    return true;
  }

private:
  static constexpr uint32_t kPolls = 1000;

  uint32_t awaitMoreThan(uint32_t stored) const {
    uint32_t written = ring_.written.load(std::memory_order_acquire);
    for (uint32_t polls = kPolls; written == stored && polls > 0; --polls)
      written = ring_.written.load(std::memory_order_acquire);
    return written;
  }

  const std::byte *begin_;
  const RingBody &ring_;
};

/// Not thread safe.
class FifoReceiver {
public:
  static constexpr uint32_t kIdsAtOnce = shm::kIdsAtOnce;
  static constexpr bool kPrefersPut = false;   ///< a get needs no reply first
  static constexpr bool kSendsEarlyRtr = true; ///< of static messages
  static constexpr bool kHasStaticRtrs = true;
  static constexpr bool kCooperates = true;
  using Rts = shm::Rts;
  using RemoteBuffer = shm::RemoteBuffer;
  using StaticRtrs = shm::StaticRtrs;

  /// `options`, `canReach` and `arena`: as in FifoSender; the arena is for RTRs of static messages.
  /// `isSelf`: the peer is this rank.
  FifoReceiver(World &world, Rank peer, bool isSelf, const FifoOptions &options, bool &canReach,
               Arena &arena)
      : world_(world), peer_(peer), isSelf_(isSelf), options_(options), canReach_(canReach),
        arena_(arena) {}

  Rank peer() const { return peer_; }

  /// Attaches the FIFO that the sender made. Before, nothing arrives.
  void connect(uint64_t offset);

  /// Takes an eager message, if it is the next one, has this tag, and as many bytes as the payload.
  /// A message in the ring of bytes goes to store(RingMessage), which returns true if all of it is
  /// here. False: the message is not here, or another one comes first.
  template <typename Store> bool tryTake(const Tag &tag, const Payload &payload, Store store) {
    if (!slots_)
      return false;
    const Slot &slot = slots_[taken_ % kSlots];
    if (slot.stamp.load(std::memory_order_acquire) != taken_ + 1 || slot.tag != tag) {
      lookedInVain_ = true;
      return false;
    }
    if (slot.kind != SlotKind::Inline)
      return tryTakeFromRing(slot, payload, store);
    if (slot.inlineBytes != payload.bytes)
      return false;
    if (slot.inlineBytes > kSlotInlineBytes)
      return tryTakeSlots(slot, payload);
    scatterShort(payload, slot.body.data);
    advance(1);
    return true;
  }

  uint64_t longestEagerBytes() const { return options_.longestEagerBytes(); }
  /// True if a message that is stored as it comes is handed over in whole elements. A message in
  /// slots is not stored as it comes, because that would save no time.
  bool handsElements(uint64_t bytes, uint32_t elementBytes) const {
    return bytes > options_.slotsBytes && kEagerPartBytes % elementBytes == 0;
  }

  /// True if no message is here. Who takes one acquires it.
  bool isEmpty() const {
    return !slots_ || slots_[taken_ % kSlots].stamp.load(std::memory_order_relaxed) != taken_ + 1;
  }

  /// Takes all slots that are here, in order, and hands them to `handler`:
  ///   onEager(tag, bytes, count); onLongerEager(tag, RingMessage), which returns true if all of
  ///   it is here;
  ///   onRts(tag, id, rts); onFragment(id, bytes, count); onPut(id); onRtsCancelled(id);
  ///   onStaticRtrs(stream, rtrs); onStreamClosed(stream); and of static messages
  ///   onEarlyRtrPut(tag), onStaticRts(tag, rts) of a claimed RTS
  /// True: something was here.
  template <typename Handler> bool progress(Handler &handler) {
    bool moved = !posted_.empty() && takeStatic(handler);
    if (!slots_)
      return moved;
    while (true) {
      const Slot &slot = slots_[taken_ % kSlots];
      if (slot.stamp.load(std::memory_order_acquire) != taken_ + 1 || !isWhole(slot))
        return moved;
      if (!hand(slot, handler))
        return moved;
      if (slot.kind == SlotKind::Eager || slot.kind == SlotKind::Fragment)
        freeBytes(slot);
      advance(slotsOf(slot));
      moved = true;
    }
  }

  // Replies to requests to send. The sender may have cancelled a request meanwhile.

  bool isCancelled(const Rts &rts) const;
  /// Claims an RTS before anything of it is used. False: the sender cancelled it.
  bool claim(const Rts &rts) const { return rendezvous::claim(stateOf(rts), rts.use); }
  /// Answers a claimed RTS: the payload is here, or is not wanted.
  void sendFin(const Rts &rts) { leave(rts, rendezvous::State::Done); }
  /// Answers a claimed RTS: the sender is to send fragments.
  void requestFragments(const Rts &rts) { leave(rts, rendezvous::State::Fragments); }
  /// Answers a claimed RTS: the sender is to put the payload into `buffer`.
  void sendRtr(const Rts &rts, const RemoteBuffer &buffer);
  /// Turns an RTR back into a claim. False: the sender writes, has written, or has cancelled the
  /// RTS.
  bool withdrawRtr(const Rts &rts) { return rendezvous::withdrawRtr(stateOf(rts), rts.use); }
  /// Cancels an RTR: the sender puts nothing here any more. False: it writes just now.
  bool cancelRtr(const Rts &rts) {
    return rendezvous::cancelRtr(stateOf(rts), rts.use) &&
           rendezvous::cancelCooperation(stateOf(rts), replyOf(rts).parts, rts.use);
  }
  /// Refuses an RTS that neither end has claimed: its payload is not wanted.
  void refuse(const Rts &rts);

  // A payload that both ends copy, part by part.

  /// Answers a claimed RTS: from now on the sender may put parts into `buffer`.
  void startCooperation(const Rts &rts, const RemoteBuffer &buffer);
  // Relaxed: an old state is as good, as the word of the parts decides, which its changes always
  // read anew.
  bool isCooperation(const Rts &rts) const {
    return stateOf(rts).load(std::memory_order_relaxed) ==
           rendezvous::wordOf(rts.use, rendezvous::State::Cooperating);
  }
  std::optional<cooperative::Claim> claimParts(const Rts &rts, uint32_t numParts) const {
    return cooperative::claim(replyOf(rts).parts, cooperative::End::Receiver, numParts);
  }
  cooperative::Outcome leaveParts(const Rts &rts, uint32_t numParts, bool isCopied) const {
    return cooperative::leave(replyOf(rts).parts, cooperative::End::Receiver, numParts, isCopied);
  }
  /// Ends a cooperation that this end left last. Without effect if the sender has cancelled the
  /// RTS.
  void endCooperation(const Rts &rts, cooperative::Outcome outcome);

  RemoteBuffer remoteBufferOf(const Payload &payload) const {
    return shm::remoteBufferOf(world_, payload);
  }
  /// The bytes of a buffer that both ends have mapped; null: it is not shared, or lies in pieces.
  const std::byte *map(const RemoteBuffer &buffer) const {
    return buffer.isShared                 ? world_.reach(buffer.address)
           : isSelf_ && buffer.pieces == 1 ? reinterpret_cast<const std::byte *>(buffer.address)
                                           : nullptr;
  }
  /// True if get() needs no system call.
  bool isSelf() const { return isSelf_; }
  bool canReach() const { return canReach_; }
  /// Gets bytes [offset, offset + to.bytes) of a buffer; the offset is 0 if it has several pieces.
  GetResult get(const RemoteBuffer &from, uint64_t offset, const Payload &to);
  /// True if the sender can put without a system call.
  bool canPut(const Rts &, const RemoteBuffer &buffer) const { return buffer.isShared; }

  // Static messages. The sender may still send one as an ordinary message: then its RTR is retired.

  /// True if the sender puts the payload; else this end gets it.
  bool isPut(const RequestPayload &payload) const { return payload.fixed->isPut; }
  /// Makes room for the RTRs of a stream, until releaseStream(). Null: no memory is left.
  StaticRtr *makeStaticRtrs(StreamId stream, uint32_t count);
  void releaseStream(StreamId stream);
  /// Expects a static message: its receive is posted, and the payload stays where it is. Sends the
  /// RTR of a message that the sender puts. `mayReach`: a copy by the kernel is worth its system
  /// call.
  void expectStatic(const Tag &tag, const RequestPayload &payload, bool mayReach);
  /// Claims the RTS of a static message that this end gets. Nothing: the message is not here.
  std::optional<Rts> claimStatic(const Tag &tag, const RequestPayload &payload) const {
    const StaticEnd *end = payload.fixed;
    return end && !end->isPut && end->rtr ? claimRts(*end->rtr, tag.run) : std::nullopt;
  }
  void declineStatic(const RequestPayload &payload) {
    payload.fixed->rtr->isDeclined.store(1, std::memory_order_relaxed);
  }
  void retireRtr(const RequestPayload &payload) {
    if (payload.fixed && payload.fixed->isPosted)
      retireStatic(*payload.fixed);
  }
  bool cancelEarlyRtr(const Tag &, const RequestPayload &payload) {
    const StaticEnd *end = payload.fixed;
    return !end || !end->isPosted || !end->isPut ||
           rendezvous::cancelRtr(end->rtr->reply.state, end->run);
  }
  void cancelReceive(const Tag &, const RequestPayload &payload) { retireRtr(payload); }
  void cancelReceive(const Rts &) {}
  /// Returns false: over shared memory an RTS never answers an RTR. Retires a static message's RTR.
  bool hasEarlyRtr(const RequestPayload &payload, const Rts &) {
    retireRtr(payload);
    return false;
  }

  // The throttle flag replaces credits.
  void releaseCredit(uint64_t) {}

  /// Restricts the sender to requests to send, until this is taken back.
  void setThrottled(bool isThrottled) {
    header_->isThrottled.store(isThrottled, std::memory_order_relaxed);
  }
  void setPostsLate(bool postsLate) {
    header_->postsLate.store(postsLate, std::memory_order_relaxed);
  }
  /// True if tryTake() has failed since it last took a message from the ring.
  bool lookedInVain() const { return lookedInVain_; }

private:
  static constexpr uint32_t kPollsForMore = 200;

  static uint32_t slotsOf(const Slot &slot) {
    return slot.kind == SlotKind::Inline ? slotsFor(slot.inlineBytes) : 1;
  }
  template <typename Store>
  bool tryTakeFromRing(const Slot &slot, const Payload &payload, Store &store) {
    if (slot.kind != SlotKind::Eager || slot.body.ring.bytes != payload.bytes)
      return false;
    if (!store(messageOf(slot)))
      return false;
    lookedInVain_ = false;
    freeBytes(slot);
    advance(1);
    return true;
  }
  RingMessage messageOf(const Slot &slot) const {
    return {ring_ + slot.body.ring.offset, slot.body.ring};
  }
  // Hands one slot to the handler. False: its message is not whole yet.
  template <typename Handler> bool hand(const Slot &slot, Handler &handler) {
    std::byte flat[kLongestInlineBytes];
    switch (slot.kind) {
    case SlotKind::Inline:
      handler.onEager(slot.tag, flatten(slot, flat), slot.inlineBytes);
      break;
    case SlotKind::Eager:
      return handler.onLongerEager(slot.tag, messageOf(slot));
    case SlotKind::Rts:
      handler.onRts(slot.tag, slot.rendezvousId, slot.body.rts);
      break;
    case SlotKind::Fragment:
      handler.onFragment(slot.rendezvousId, ring_ + slot.body.ring.offset, slot.body.ring.bytes);
      break;
    case SlotKind::Put:
      handler.onPut(slot.rendezvousId);
      break;
    case SlotKind::RtsCancelled:
      handler.onRtsCancelled(slot.rendezvousId);
      break;
    case SlotKind::StaticRtrs:
      handler.onStaticRtrs(streamOf(slot.tag), slot.body.staticRtrs);
      break;
    case SlotKind::CloseStream:
      handler.onStreamClosed(streamOf(slot.tag));
      break;
    }
    return true;
  }
  template <typename Handler> bool takeStatic(Handler &handler) {
    bool moved = false;
    for (size_t i = 0; i < posted_.size();) {
      auto [tag, end] = posted_[i];
      std::optional<Rts> rts = end->isPut ? std::nullopt : claimRts(*end->rtr, end->run);
      if (!rts && !(end->isPut && hasComePut(*end))) {
        ++i;
        continue;
      }
      moved = true;
      end->isPosted = false;
      posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
      if (rts)
        handler.onStaticRts(tag, *rts);
      else
        handler.onEarlyRtrPut(tag);
    }
    return moved;
  }
  static bool hasComePut(StaticEnd &end);
  std::optional<Rts> claimRts(StaticRtr &rtr, uint32_t run) const;
  void retireStatic(StaticEnd &end);
  bool tryTakeSlots(const Slot &slot, const Payload &payload);
  const ContinuationSlot *awaitContinuation(uint32_t position) const;
  bool isWhole(const Slot &slot) const;
  bool unpack(std::byte *to, const Slot &slot) const;
  const std::byte *flatten(const Slot &slot, std::byte *room) const;
  // The sender looks at the count only when it runs out of slots, so the count may lag.
  void advance(uint32_t slots) {
    taken_ += slots;
    if (taken_ - published_ >= kSlots / 4)
      publish();
  }
  void publish();
  void freeBytes(const Slot &slot);
  Reply &replyOf(const Rts &rts) const { return *reinterpret_cast<Reply *>(world_.at(rts.reply)); }
  std::atomic<uint32_t> &stateOf(const Rts &rts) const { return replyOf(rts).state; }
  void leave(const Rts &rts, rendezvous::State state);

  World &world_;
  Rank peer_;
  const bool isSelf_;
  const FifoOptions &options_;
  bool &canReach_;
  Arena &arena_;
  struct Posted {
    Tag tag;
    StaticEnd *end;
  };
  std::vector<Posted> posted_; ///< static messages that this end awaits
  struct StreamRtrs {
    StreamId stream;
    uint64_t offset; ///< in the mapping
    uint32_t count;
  };
  std::vector<StreamRtrs> staticRtrs_;
  uint32_t numStaticRtrs_ = 0; ///< of all streams
  FifoHeader *header_ = nullptr;
  const Slot *slots_ = nullptr;
  const std::byte *ring_ = nullptr;
  uint32_t taken_ = 0;
  uint32_t published_ = 0; ///< slots that the sender knows to be free
  bool lookedInVain_ = false;
};

} // namespace colldsl::shm
