/// What ranks send each other. Everything is a frame: a header, and a body that its kind names.
/// Little endian, as are all machines that are served.
#pragma once

#include "ir/Ids.h"
#include "wireup/Interfaces.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace colldsl::network {

enum class Kind : uint8_t {
  Eager,    ///< a whole message
  Request,  ///< a message waits until the receiver has decided: RequestBody
  Place,    ///< where the receiver wants it: PlaceBody
  Fragment, ///< the next part of it, where it must travel in frames
  Read,     ///< the receiver has read it
  Closed,   ///< this rank needs nothing of the plan any more: ClosedBody
  Drained,  ///< of a plan that failed: this rank moves none of the receiver's bytes for it any more
  HowFar,   ///< whether the other end of a message will ever come: DoubtBody
  SoFar,    ///< the answer: DoubtBody
  Failed,   ///< the plan, or all, failed: FailureBody
  Credit,   ///< nothing but `consumed`
  Cast,     ///< to several peers at once: CastBody, and the body of its kind; by multicast alone
  Group,    ///< what the carrier's multicast has to say
  Goodbye,  ///< nothing follows; answered by Farewell
  Farewell,
  Last = Farewell,
};

struct Header {
  uint64_t token = 0; ///< the receiver's: who does not know it is a stranger
  Rank from = kNoRank;
  uint32_t plan = 0;     ///< number of the open() it belongs to
  uint32_t run = 0;      ///< of the plan
  uint32_t message = 0;  ///< place in the edge's list
  uint32_t consumed = 0; ///< units of the other's eager messages that are out of the way, ever
  Kind kind = Kind::Credit;
  uint8_t sequence = 0;   ///< counts the frames to this receiver
  uint16_t bodyBytes = 0; ///< the lower bits of their number
};
static_assert(sizeof(Header) == 32);

/// Of a message that is said at once.
inline constexpr uint32_t kMostEagerBytes = 64 << 10;

/// What an eager message takes of the window.
inline constexpr uint32_t kUnitsPerMessage = 64;

struct RequestBody {
  uint64_t bytes;
  uint64_t address; ///< as the carrier wants it
  uint64_t key;
  uint32_t isReadable; ///< address and key are valid
  uint32_t stretches;  ///< of memory, that the sender can write it to at once; 0: it cannot
};

struct PlaceBody {
  uint64_t bytes; ///< the room
  uint64_t address;
  uint64_t key;
  uint32_t ticket;    ///< sent along with the last byte
  uint8_t isWritable; ///< address, key and ticket are valid; else in fragments
  uint8_t isUnasked;  ///< holds for a message of just so many bytes, and one that can be written
  uint8_t stretches;  ///< of memory, which follow; none: `bytes` at `address`
  uint8_t unused;
};

/// A part of where a message is wanted.
struct Stretch {
  uint64_t address;
  uint64_t bytes;
};
/// Of one place, at most.
inline constexpr uint32_t kMostStretches = 15;

struct ClosedBody {
  uint64_t casts; ///< frames of the plan that the receiver was said together with others
};

/// How far a rank is with its end of a message, in one run.
enum class Progress : uint8_t {
  NotYet,
  Past,    ///< the run is over
  Skipped, ///< the run is not over, and its end has no bytes in it
};

struct DoubtBody {
  uint8_t sends; ///< the rank that asks
  Progress progress = Progress::NotYet;
  uint8_t isWritten = 0; ///< Past: the sender wrote the message of that run to where it is wanted
  uint8_t unused[5] = {};
  uint64_t casts =
      0; ///< frames of the message that went to the rank that asks and to others at once
};

struct CastBody {
  MessageId message; ///< as the schedule names it: its place is not the same for all
  Kind kind;         ///< Eager, Request or Fragment
  uint8_t unused[7];
};

struct FailureBody {
  static constexpr uint32_t kEveryPlan = 0xffffffffu;
  uint32_t plan;
  Rank culprit;
  Rank root; ///< of the tree that passes it on; kNoRank: not to be passed on along a tree
  ErrorKind kind;
  char reason[211];
};

/// Where a rank is, and what proves to it that one is of its job.
struct Card {
  static constexpr uint32_t kMostAddressBytes = 96;
  uint64_t token = 0;
  Address watchAddress;
  uint16_t watchPort = 0; ///< in network order
  uint16_t addressBytes = 0;
  std::array<std::byte, kMostAddressBytes> address = {};
};

} // namespace colldsl::network
