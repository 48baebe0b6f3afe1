/// A shared-memory FIFO: one direction between two ranks of a machine. Every word has one writer,
/// except the reply words of requests to send.
///
///   FifoHeader | Slot[kSlots] | ring of bytes
///
/// It lies in the arena of its sender, which makes it for the first message to that peer, and hands
/// its offset to the peer by a list of connect requests (RankControl::connectRequests).
#pragma once

#include "ir/Ids.h"
#include "transports/Rendezvous.h"
#include "transports/Tag.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace colldsl::shm {

inline constexpr uint32_t kSlotBytes = 64;
inline constexpr uint32_t kSlotInlineBytes = 40;      ///< of a message that takes one slot
inline constexpr uint32_t kContinuationBytes = 60;    ///< in each slot behind the first one
inline constexpr uint32_t kLongestInlineBytes = 1024; ///< of a message that travels in slots
inline constexpr uint32_t kEagerPartBytes = 8 << 10;  ///< of a message in the ring of bytes
inline constexpr uint32_t kSlots = 256;
inline constexpr uint32_t kIdsAtOnce = 32; ///< rendezvous ids that are made

enum class SlotKind : uint8_t {
  Inline,       ///< an eager message in this slot, and in the continuation slots that it takes
  Eager,        ///< an eager message in the ring of bytes
  Rts,          ///< request to send: the payload waits at the sender
  Fragment,     ///< the next part of a payload that the receiver is ready for, in the ring of bytes
  Put,          ///< the sender has written the payload to the receiver's buffer
  RtsCancelled, ///< the rest of a payload that the receiver is ready for does not come
  StaticRtrs,   ///< location of the RTRs of static messages to the sender of this slot
  CloseStream,  ///< the sender neither sends nor receives in this stream any more
};

/// A part of the ring of bytes. The sender fills the slot when it has written the first
/// kEagerPartBytes, so that both ends of a long message copy at the same time.
struct RingBody {
  uint64_t end;    ///< bytes of the ring used up to and including this, since the beginning
  uint32_t offset; ///< in the ring
  uint32_t bytes;
  /// Bytes that are there; all of them, or a multiple of a part. The first store is relaxed, as the
  /// stamp releases it, too; later ones release the bytes to the loads that acquire.
  std::atomic<uint32_t> written;
};

/// The memory of a message at one of its ends.
struct RemoteBuffer {
  uint64_t
      address; ///< shared: offset in the mapping; else in its process, as in cma::RemotePayload
  uint32_t pieces;
  bool isShared;
};

struct Rts {
  uint64_t bytes;
  RemoteBuffer buffer; ///< of the sender
  uint64_t reply;      ///< offset of its Reply in the mapping
  uint32_t use;        ///< number of earlier uses of the rendezvous id
  rendezvous::SenderLoad sender;
};

/// The RTRs of the static messages that an edge of a plan carries, one after the other.
struct StaticRtrs {
  uint64_t offset; ///< in the mapping
  uint64_t hash;   ///< of the messages' places on the edge
  uint32_t count;
};

union SlotBody {
  std::byte data[kSlotInlineBytes];
  RingBody ring;
  Rts rts;
  StaticRtrs staticRtrs;
};

/// The stamp is written last: position in the sequence of slots, plus one. Its store releases the
/// slot, and what the slot names, to the load of the receiver that acquires it.
struct alignas(kSlotBytes) Slot {
  std::atomic<uint32_t> stamp;
  Tag tag;
  SlotKind kind;
  union {
    uint16_t inlineBytes;  ///< Inline: of the whole message
    uint16_t rendezvousId; ///< all others
  };
  SlotBody body;
};
static_assert(sizeof(Slot) == kSlotBytes && sizeof(SlotBody) == kSlotInlineBytes);

/// The next part of an inline payload. Its stamp lies where that of a Slot lies.
struct alignas(kSlotBytes) ContinuationSlot {
  std::atomic<uint32_t> stamp;
  std::byte data[kContinuationBytes];
};
static_assert(sizeof(ContinuationSlot) == kSlotBytes);

/// Slots that an inline payload takes.
constexpr uint32_t slotsFor(uint64_t bytes) {
  return bytes <= kSlotInlineBytes
             ? 1
             : 1 + static_cast<uint32_t>((bytes - kSlotInlineBytes + kContinuationBytes - 1) /
                                         kContinuationBytes);
}

/// The receiver's reply to a request to send: one per rendezvous id, in the sender's memory.
struct alignas(32) Reply {
  std::atomic<uint32_t> state; ///< of one use of the id: see Rendezvous.h
  std::atomic<uint32_t> parts; ///< Cooperating: see CooperativeCopy.h
  RemoteBuffer buffer;         ///< RtrSent, Cooperating: of the receiver
};

struct FifoHeader {
  // The sender writes these, before the connect request.
  alignas(kSlotBytes) Rank from;
  uint64_t nextRequest; ///< offset of the FIFO of the previous connect request, 0: none

  // The receiver writes these. The counts release what it has read to the sender, which acquires
  // them before it writes there again. The flags are relaxed: nothing else is read by them, and an
  // old one is as good.
  alignas(kSlotBytes) std::atomic<uint32_t> slotsConsumed;
  std::atomic<uint16_t>
      isThrottled;                 ///< its unexpected queue is full: only requests to send may come
  std::atomic<uint16_t> postsLate; ///< its receives mostly come after the messages
  std::atomic<uint64_t> bytesConsumed;
};

constexpr uint64_t fifoBytes(uint32_t ringBytes) {
  return sizeof(FifoHeader) + kSlots * sizeof(Slot) + ringBytes;
}

} // namespace colldsl::shm
