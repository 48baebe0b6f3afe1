/// The sending end of a shared-memory FIFO.
#pragma once

#include "ir/Transfer.h"
#include "transports/Pieces.h"
#include "transports/cma/RemoteMemory.h"
#include "transports/shm/Arena.h"
#include "transports/shm/StaticRtr.h"
#include "transports/shm/World.h"

#include <optional>
#include <vector>

namespace colldsl::shm {

/// Options of all FIFOs of a rank. Sizes in bytes.
struct FifoOptions {
  uint32_t ringBytes = 64 << 10; ///< for payloads that do not travel in slots. A multiple of 64
  uint32_t slotsBytes = 512; ///< messages up to this travel in slots; at most kLongestInlineBytes

  /// Half a ring, so that a message fits even if the sender skips the end of the ring.
  uint64_t longestEagerBytes() const { return ringBytes / 2; }
};

/// The payload as the other process finds it.
RemoteBuffer remoteBufferOf(const World &world, const Payload &payload);

/// Not thread safe.
class FifoSender {
public:
  static constexpr uint64_t kInlineBytes = kSlotInlineBytes;
  static constexpr bool kHasStaticRtrs = true;

  /// Sends through the FIFO at this offset of the mapping, which is new and zero. `arena`: for
  /// replies. `canReach`: true if the kernel lets this process reach the memory of others, as far
  /// as is known.
  FifoSender(World &world, Rank peer, uint64_t offset, const FifoOptions &options, bool &canReach,
             Arena &arena);

  Rank peer() const { return peer_; }

  // Eager messages. False: there is no room, and nothing was sent.

  /// Sends a message of at most kInlineBytes. False, too, while the receiver throttles this sender.
  /// The function is inlined because a call would cost as much as the rest.
  [[gnu::always_inline]] bool trySendInline(const Tag &tag, const Payload &payload) {
    if (!hasSlots(1) || (throttledSeen_ && (throttledSeen_ = isThrottled())))
      return false;
    Slot &slot = fill(tag, SlotKind::Inline);
    slot.inlineBytes = static_cast<uint16_t>(payload.bytes);
    gatherShort(slot.body.data, payload);
    commit(slot);
    return true;
  }
  /// Sends a longer message, up to longestEagerBytes().
  bool trySendLonger(const Tag &tag, const Payload &payload);
  uint64_t longestEagerBytes() const { return options_.longestEagerBytes(); }

  /// True if the receiver takes nothing but requests to send for now.
  bool isThrottled(uint64_t = 0) const {
    return header_->isThrottled.load(std::memory_order_relaxed) != 0;
  }
  // Messages in the FIFO need no further progress of this rank.
  bool isFlushed() const { return true; }
  bool flushes() const { return false; }
  bool receiverPostsLate() const { return header_->postsLate.load(std::memory_order_relaxed) != 0; }
  /// True if the receiver can probably read the memory of this process, and this process the
  /// receiver's.
  bool canReach() const { return canReach_; }

  // Rendezvous.

  /// Makes rendezvous ids until there are `ids`, if there is shared memory left.
  void reserve(uint32_t ids);

  /// Sends a request to send. False: no slot, or no rendezvous id is free.
  bool trySendRts(const Tag &tag, const Payload &payload, Mover mover, rendezvous::SenderLoad load,
                  uint16_t &id);

  enum class Replied : uint8_t {
    Nothing,
    Fin,       ///< the receiver has the payload, or does not want it
    Fragments, ///< it waits for fragments
    Rtr,       ///< it waits for a put into its buffer, or for parts of it
  };
  Replied replyTo(uint16_t id) const;
  bool mayHaveReplies() const { return true; }
  bool isUnanswered(uint16_t id, const Tag &) const { return replyTo(id) == Replied::Nothing; }

  enum class PutResult : uint8_t {
    Done,
    NotNow,  ///< no slot is free, or the receiver copies the rest
    Refused, ///< the buffer cannot be written: the receiver waits for fragments now
  };
  PutResult put(const Tag &tag, const Payload &payload, uint16_t id);

  bool trySendFragment(const Tag &tag, const Payload &payload, uint64_t offset, uint64_t bytes,
                       uint16_t id) {
    return hasSlots(1) && sendInRing(tag, SlotKind::Fragment, payload, offset, bytes, id);
  }

  /// Frees the id of a payload that was sent.
  void release(uint16_t id);

  /// Ends the use of an id without sending more. False: the receiver reads the payload just now.
  bool cancelRts(uint16_t id);
  /// Returns false: a cancel waits for the receiver's read, which ends soon.
  bool cancelRtsUnconfirmed(uint16_t) { return false; }

  // Receivers send the address of their buffer only in answer to an RTS.
  bool hasEarlyRtr(const Tag &) const { return false; }
  bool takeEarlyRtr(const Tag &, const Payload &, uint16_t &) { return false; }

  // Static messages.

  /// True if this end puts the payload; else the receiver gets it.
  bool isPut(const RequestPayload &payload) const { return payload.fixed->isPut; }
  /// True if the receiver takes the message as a static one. If the sender puts it, an RTR comes
  /// soon.
  bool isStaticNow(const RequestPayload &payload) const {
    const StaticRtr *rtr = payload.fixed->rtr;
    return rtr && rtr->isDeclined.load(std::memory_order_relaxed) == 0;
  }
  /// Lets the receiver get the payload. `mayReach`: a copy by the kernel is worth its system call.
  /// False: the message is to travel as an ordinary one.
  bool sendStaticRts(const Tag &tag, const RequestPayload &payload, bool mayReach);
  /// The receiver's reply to a static RTS. Fragments: the message is to travel as an ordinary one
  /// after all.
  Replied replyToStatic(const Tag &tag, const RequestPayload &payload) const;
  /// Cancels a static RTS. False: the receiver reads the payload just now.
  bool cancelStaticRts(const Tag &tag, const RequestPayload &payload);
  enum class StaticPut : uint8_t {
    Done,
    NotReady, ///< there is no RTR for this run yet
    Refused,  ///< the message is to travel as an ordinary one
  };
  StaticPut putStatic(const Tag &tag, const RequestPayload &payload);

  /// Tells the peer, now or later, the location of the RTRs of static messages that it sends to
  /// this rank.
  void nameStaticRtrs(uint32_t context, uint32_t stream, const StaticRtrs &rtrs);

  /// Tells the peer, now or later, that this rank closes the stream.
  void closeStream(uint32_t context, uint32_t stream);

  /// The number of slots filled since the beginning, modulo 2^32: for tests and measurements.
  uint32_t numSlots() const { return produced_; }

  /// True if a notification waits for a free slot.
  bool isBusy() const { return !closing_.empty() || !cancelled_.empty() || !naming_.empty(); }
  /// Sends notifications that wait for a free slot. True: something moved.
  bool progress();

private:
  bool hasSlots(uint32_t slots) {
    return produced_ + slots - consumedSeen_ <= kSlots || refreshSlots(slots);
  }
  bool refreshSlots(uint32_t slots);
  Slot &fill(const Tag &tag, SlotKind kind) {
    Slot &slot = slots_[produced_ % kSlots];
    slot.tag = tag;
    slot.kind = kind;
    return slot;
  }
  ContinuationSlot &nextContinuation() {
    return reinterpret_cast<ContinuationSlot &>(slots_[produced_ % kSlots]);
  }
  void commit(Slot &slot) {
    slot.stamp.store(++produced_, std::memory_order_release);
    world_.wake(peer_);
  }
  void sendInSlots(const Tag &tag, const Payload &payload);
  bool sendInRing(const Tag &tag, SlotKind kind, const Payload &payload, uint64_t offset,
                  uint64_t bytes, uint16_t id);
  void writeRest(std::byte *to, RingBody &ring, const Payload &payload, uint64_t offset);
  void ownRingAhead(uint64_t bytes);
  bool makeIds();
  PutResult putParts(const Tag &tag, const Payload &payload, uint16_t id);
  void notifyPut(const Tag &tag, uint16_t id);
  cma::Outcome writeTo(const RemoteBuffer &buffer, const Payload &payload);
  bool writeStatic(const StaticRtr &rtr, const Payload &payload);
  bool sendNaming();
  bool sendClosing();
  bool sendRtsCancelled();

  World &world_;
  Rank peer_;
  const FifoOptions &options_;
  bool &canReach_;
  Arena &arena_;
  FifoHeader *header_;
  Slot *slots_;
  std::byte *ring_;
  uint32_t produced_ = 0;
  uint32_t consumedSeen_ = 0;
  bool throttledSeen_ = false; ///< with consumedSeen_
  uint64_t bytesProduced_ = 0;
  uint64_t bytesConsumedSeen_ = 0;
  struct Id {
    Reply *reply;
    uint32_t use = 0; ///< number of earlier uses
  };
  std::vector<Id> ids_;
  std::vector<uint16_t> freeIds_;
  std::vector<uint16_t> cancelled_;                ///< ids of which the receiver is to be notified
  std::vector<std::pair<Tag, StaticRtrs>> naming_; ///< RTRs of which the peer is to be notified
  std::vector<Tag> closing_; ///< streams of which the receiver is to be notified
};

} // namespace colldsl::shm
