/// The word by which both ends of a long message copy it together, part by part: the receiver reads
/// from the front, the sender writes from the back, each when it has nothing else to do. This is
/// the cooperative rendezvous of Chakraborty, Bayatpour, Hashmi, Subramoni and Panda (SC 2019).
///
/// An end claims parts before it copies their first byte and leaves them after the last one. It
/// claims half of the remaining parts while the other end has claimed none, else a quarter, so that
/// both ends finish at about the same time, after few system calls. The end that leaves last, when
/// no part can be claimed any more, ends the rendezvous: exactly one end does. A part that cannot
/// be copied closes the message, as a cancel does. No end claims parts of a closed message.
///
///   bits 0..13  parts that the receiver has claimed
///   bits 14..27 parts that the sender has claimed
///   bits 28..30 the receiver copies; the sender copies; the message is closed
///
/// `Word` is an atomic 32-bit word in shared memory; a model of it in tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

namespace colldsl::cooperative {

enum class End : uint8_t { Receiver, Sender };

inline constexpr uint32_t kMostParts = (1u << 14) - 1;
inline constexpr uint64_t kLeastPartBytes = 32 << 10, kUsualPartBytes = 64 << 10;

/// Consecutive parts.
struct Claim {
  uint32_t first, count;
};

/// The division of a message into parts, alike at both ends. All parts but the last one have
/// partBytes, a multiple of kLeastPartBytes.
struct Parts {
  explicit Parts(uint64_t bytes) : bytes(bytes) {
    uint64_t usual = bytes < 4 * kUsualPartBytes ? kLeastPartBytes : kUsualPartBytes;
    uint64_t least = (bytes + kMostParts - 1) / kMostParts;
    partBytes = (std::max(usual, least) + usual - 1) / usual * usual;
    count = static_cast<uint32_t>((bytes + partBytes - 1) / partBytes);
  }
  uint64_t beginOf(Claim parts) const { return parts.first * partBytes; }
  uint64_t bytesOf(Claim parts) const {
    return std::min(parts.count * partBytes, bytes - beginOf(parts));
  }

  uint64_t bytes, partBytes;
  uint32_t count;
};

namespace detail {

constexpr uint32_t kSenderShift = 14;
constexpr uint32_t kClosed = 1u << 30;
constexpr uint32_t copies(End end) { return end == End::Receiver ? 1u << 28 : 1u << 29; }
constexpr uint32_t claimed(uint32_t word, End end) {
  return (end == End::Receiver ? word : word >> kSenderShift) & kMostParts;
}
constexpr uint32_t one(End end) { return end == End::Receiver ? 1 : 1u << kSenderShift; }
constexpr End other(End end) { return end == End::Receiver ? End::Sender : End::Receiver; }

} // namespace detail

/// Resets the word, before the other end sees the rendezvous: the state that begins it releases
/// this, too.
template <typename Word> void begin(Word &word) { word.store(0, std::memory_order_relaxed); }

/// Claims the parts that this end copies next. Nothing: the message is closed, or all parts are
/// claimed. A claim orders nothing: of two ends that change this word one sees what the other has
/// claimed, and the bytes are ordered where claims are left.
template <typename Word> std::optional<Claim> claim(Word &word, End end, uint32_t numParts) {
  using namespace detail;
  uint32_t now = word.load(std::memory_order_relaxed);
  while (true) {
    uint32_t mine = claimed(now, end), others = claimed(now, other(end));
    uint32_t left = numParts - mine - others;
    if ((now & kClosed) != 0 || left == 0)
      return std::nullopt;
    uint32_t count = others == 0 ? (left + 1) / 2 : std::max(left / 4, 1u);
    if (word.compare_exchange_strong(now, (now + count * one(end)) | copies(end),
                                     std::memory_order_relaxed, std::memory_order_relaxed))
      return Claim{end == End::Receiver ? mine : numParts - mine - count, count};
  }
}

enum class Outcome : uint8_t {
  Pending, ///< parts can be claimed, or the other end copies and ends the rendezvous
  Copied,  ///< this end ends it: all bytes are there
  Closed,  ///< this end ends it: bytes are missing
};

/// Leaves claimed parts. An end that ends the rendezvous sees the bytes that the other one copied.
template <typename Word> Outcome leave(Word &word, End end, uint32_t numParts, bool isCopied) {
  using namespace detail;
  uint32_t now = word.load(std::memory_order_relaxed), next;
  // Releases the copied bytes to the end that leaves last, which acquires them.
  do
    next = (now & ~copies(end)) | (isCopied ? 0 : kClosed);
  while (!word.compare_exchange_strong(now, next, std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
  if ((next & copies(other(end))) != 0)
    return Outcome::Pending;
  if ((next & kClosed) != 0)
    return Outcome::Closed;
  bool isWhole = claimed(next, End::Receiver) + claimed(next, End::Sender) == numParts;
  return isWhole ? Outcome::Copied : Outcome::Pending;
}

/// Closes the message: no end claims a part any more. False: the other end copies a part just now,
/// and then ends the rendezvous.
template <typename Word> bool close(Word &word, End end) {
  using namespace detail;
  uint32_t now = word.load(std::memory_order_relaxed);
  // Acquires what the other end has left. It needs nothing of this end.
  while (!word.compare_exchange_strong(now, now | kClosed, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
  }
  return (now & copies(other(end))) == 0;
}

} // namespace colldsl::cooperative
