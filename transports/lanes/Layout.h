/// What the two ends of a lane share. Every word has one writer.
///
///   LaneHeader | Line[kLines] | bytes[ringBytes]
///
/// A lane lies in the arena of its sender, who makes it when it has the first message
/// for that peer and tells the peer by its list of knocks.
#pragma once

#include "ir/Ids.h"
#include "transports/Rendezvous.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace colldsl::lanes {

inline constexpr uint32_t kLineBytes = 64;
inline constexpr uint32_t kInlineBytes = 40;
inline constexpr uint32_t kMoreBytes = 60;
inline constexpr uint32_t kLongestInlineBytes = 1024; ///< of a message that travels in lines
inline constexpr uint32_t kLines = 256;
inline constexpr uint32_t kTicketsAtOnce = 32; ///< are made

/// What a message is for: both ends name it alike. On one lane no two messages under way
/// have the same key.
struct Key {
  uint32_t context = 0; ///< a group of ranks
  uint32_t stream = 0;  ///< of the context: something that is run again and again
  uint32_t run = 0;     ///< of the stream
  uint32_t message = 0; ///< of the run, or what else tells messages apart

  friend bool operator==(const Key &, const Key &) = default;
};

/// A stream, context first.
using StreamId = uint64_t;
constexpr StreamId streamId(uint32_t context, uint32_t stream) {
  return uint64_t{context} << 32 | stream;
}
constexpr StreamId streamOf(const Key &key) { return streamId(key.context, key.stream); }

enum class LineKind : uint8_t {
  Inline,    ///< the payload is in the line, and in those behind it that it takes
  Eager,     ///< the payload is in the ring of bytes
  Request,   ///< the payload waits at the sender until the receiver is ready
  Fragment,  ///< the next part of a payload that the receiver is ready for, in the ring
  Written,   ///< the sender has put the payload where the receiver said
  Cancelled, ///< the rest of a payload that the receiver is ready for does not come
  Closed,    ///< the sender has nothing more to say or to hear in this stream
};

/// A stretch of the ring of bytes.
struct RingBody {
  uint64_t end;   ///< bytes of the ring used up to and including this, since the beginning
  uint32_t place; ///< in the ring
  uint32_t bytes;
};

/// Where the bytes of a message lie at one of its ends.
struct Place {
  uint64_t address; ///< shared: in the mapping; else in its process, as in cma::RemotePayload
  uint32_t pieces;
  bool isShared;
};

struct RequestBody {
  uint64_t bytes;
  Place place;
  uint64_t answer;  ///< offset in the mapping
  uint32_t use;     ///< how often the ticket was used before
  uint32_t loadKiB; ///< of the sender, as in Tally
};

union LineBody {
  std::byte data[kInlineBytes];
  RingBody ring;
  RequestBody request;
};

/// One header. stamp is written last: position in the stream of lines, plus one.
struct alignas(kLineBytes) Line {
  std::atomic<uint32_t> stamp;
  Key key;
  LineKind kind;
  union {
    uint16_t inlineBytes; ///< Inline: of the whole message
    uint16_t ticket;      ///< all others
  };
  LineBody body;
};
static_assert(sizeof(Line) == kLineBytes && sizeof(LineBody) == kInlineBytes);

/// The next part of an inline payload. Its stamp lies where that of a Line lies.
struct alignas(kLineBytes) More {
  std::atomic<uint32_t> stamp;
  std::byte data[kMoreBytes];
};
static_assert(sizeof(More) == kLineBytes);

/// Lines that an inline payload takes.
constexpr uint32_t linesFor(uint64_t bytes) {
  return bytes <= kInlineBytes
             ? 1
             : 1 + static_cast<uint32_t>((bytes - kInlineBytes + kMoreBytes - 1) / kMoreBytes);
}

/// Where the receiver answers: one per ticket, in the sender's memory.
struct alignas(32) Answer {
  std::atomic<uint32_t> state; ///< of one use of the ticket: see Rendezvous.h
  Place place;                 ///< Announced: of the receiver's bytes
};

struct LaneHeader {
  // The sender's, written before the knock.
  alignas(kLineBytes) Rank from;
  uint64_t nextKnock; ///< offset of the lane that knocked before this one, 0: none

  // The receiver's.
  alignas(kLineBytes) std::atomic<uint32_t> linesConsumed;
  std::atomic<uint16_t> isBehind; ///< too much was set aside: for now the sender asks first
  std::atomic<uint16_t> isLate;   ///< it mostly comes after the message: asking holds the sender up
  std::atomic<uint64_t> bytesConsumed;
};

/// How far a rank is with the runs of a stream. It lies in that rank's arena and never goes.
struct alignas(kLineBytes) Progress {
  uint64_t next; ///< offset of the one that was made before, 0: none
  std::atomic<StreamId> stream;
  std::atomic<uint32_t> message; ///< of its keys, where these do not tell messages of a run apart
  std::atomic<uint32_t> over;    ///< no run before this one needs anything more
};

constexpr uint64_t laneBytes(uint32_t ringBytes) {
  return sizeof(LaneHeader) + kLines * sizeof(Line) + ringBytes;
}

} // namespace colldsl::lanes
