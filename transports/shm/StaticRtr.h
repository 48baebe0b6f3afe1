/// The rendezvous of a static message between two ranks of a machine. It lies in the receiver's
/// arena for as long as the plan, and both ends poll it: in a run nothing goes through a FIFO. The
/// state word is that of Rendezvous.h, whose `use` is the run.
///
/// A message that its receiver gets:
///
///   sender:   buffer; Requested
///   receiver: Requested -> Reading; the payload; Done
///
/// One that its sender puts:
///
///   receiver: buffer, canary in its last bytes; RtrSent
///   sender:   RtrSent -> Writing; the payload, its last bytes behind the others; Writing -> Done
///   receiver: completed, when the last bytes are no canary, or the word is Done
///
/// The word is the flag of a payload that itself ends in the canary. The sender leaves its claim by
/// compare and swap, as a receiver that has seen the last bytes may have sent the RTR of its next
/// run.
#pragma once

#include "transports/Payload.h"
#include "transports/shm/Fifo.h"

namespace colldsl::shm {

struct alignas(kSlotBytes) StaticRtr {
  Reply reply; ///< its buffer belongs to the end that does not copy
  /// By the receiver: it is to travel as an ordinary one. Relaxed: nothing else is read by it, and
  /// the state word of the run decides.
  std::atomic<uint32_t> isDeclined;
  uint32_t canaryBytes; ///< at the end of the receiver's buffer; 0: no canary
  uint64_t bytes;       ///< of the buffer
};
static_assert(sizeof(StaticRtr) == kSlotBytes);

/// One end of a static message, in the memory of its rank.
struct StaticEnd {
  StaticRtr *rtr = nullptr;   ///< sender: null until the receiver has named it
  bool isPut = false;         ///< the sender copies
  bool usesCanary = false;    ///< the schedule asks for one
  bool isWriterNamed = false; ///< the schedule names the sender, so that it may use the kernel

  // The receiver's fields.
  bool isPosted = false;
  uint32_t run = 0;
  uint32_t polls = 0;            ///< of the canary since the word was read
  uint32_t canaryBytes = 0;      ///< as in the RTR
  std::byte *canaryAt = nullptr; ///< the last bytes of the buffer
};

/// The canary: payloads rarely end in it.
inline constexpr uint64_t kCanary = 0xa5c3961ed278b40f;

/// The width of the longest word at the end of these bytes that is read and written at once.
inline uint32_t canaryBytesOf(const std::byte *begin, uint64_t bytes) {
  uint32_t width = 8;
  while (width > 1 && (width > bytes || (reinterpret_cast<uintptr_t>(begin) + bytes) % width != 0))
    width /= 2;
  return width;
}

/// Stores the first `bytes` bytes of a word at once. It releases earlier writes to the isCanary()
/// that finds the word changed.
inline void storeAtOnce(std::byte *at, uint64_t word, uint32_t bytes) {
  switch (bytes) {
  case 8:
    return __atomic_store_n(reinterpret_cast<uint64_t *>(at), word, __ATOMIC_RELEASE);
  case 4:
    return __atomic_store_n(reinterpret_cast<uint32_t *>(at), static_cast<uint32_t>(word),
                            __ATOMIC_RELEASE);
  case 2:
    return __atomic_store_n(reinterpret_cast<uint16_t *>(at), static_cast<uint16_t>(word),
                            __ATOMIC_RELEASE);
  default:
    return __atomic_store_n(reinterpret_cast<uint8_t *>(at), static_cast<uint8_t>(word),
                            __ATOMIC_RELEASE);
  }
}

inline bool isCanary(const std::byte *at, uint32_t bytes) {
  switch (bytes) {
  case 8:
    return __atomic_load_n(reinterpret_cast<const uint64_t *>(at), __ATOMIC_ACQUIRE) == kCanary;
  case 4:
    return __atomic_load_n(reinterpret_cast<const uint32_t *>(at), __ATOMIC_ACQUIRE) ==
           static_cast<uint32_t>(kCanary);
  case 2:
    return __atomic_load_n(reinterpret_cast<const uint16_t *>(at), __ATOMIC_ACQUIRE) ==
           static_cast<uint16_t>(kCanary);
  default:
    return __atomic_load_n(reinterpret_cast<const uint8_t *>(at), __ATOMIC_ACQUIRE) ==
           static_cast<uint8_t>(kCanary);
  }
}

} // namespace colldsl::shm
