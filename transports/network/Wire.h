/// The frames that ranks send each other: a header, and a body that its kind names. Little endian,
/// as are all machines that are served.
#pragma once

#include "ir/Ids.h"
#include "transports/Tag.h"
#include "wireup/Interfaces.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace colldsl::network {

enum class Kind : uint8_t {
  Eager,    ///< a whole message
  Rts,      ///< request to send: RtsBody. The message waits for the receiver's reply
  Rtr,      ///< ready to receive: RtrBody
  Ready,    ///< the receiver wants the message of this run in the buffer of its RTR that stays
  Notify,   ///< the receiver of a canary sleeps: notify it of the put. As the answer: it was put
  Fragment, ///< the next bytes of a message whose receiver waits for fragments
  Fin,      ///< the receiver has the payload, or does not want it
  Terms, ///< of the stream, a plan, as protocol/open/PlanTerms.h writes them: to each peer, first
  CloseStream, ///< this rank needs nothing of the stream any more: CloseBody
  Cancel,      ///< this rank cancels a run, or a stream, which the receiver answers by CancelAck
  CancelAck,   ///< this rank moves no more of the receiver's bytes for that run or stream
  Probe,       ///< asks if the other end of a message will ever come: ProbeBody
  ProbeReply,  ///< ProbeBody
  Failed,      ///< the stream, or everything, failed: FailureBody
  Credit,      ///< nothing but `consumed`
  Multicast,   ///< to several peers at once: MulticastBody, and the body of its kind; by multicast
               ///< alone
  Group,       ///< a message of the transport's multicast
  Disconnect,  ///< nothing follows; answered by DisconnectAck
  DisconnectAck,
  Last = DisconnectAck,
};

/// Header::rendezvous of an RTR that no RTS was sent for.
inline constexpr uint32_t kNoRts = 0xffffffffu;

struct Header {
  uint64_t token = 0; ///< the receiver's: a sender that does not know it is a stranger
  Rank from = kNoRank;
  Tag tag = {};
  uint32_t consumed = 0;   ///< units of the other's eager messages that are out of the way, ever
  uint32_t rendezvous = 0; ///< id and use: of Rts, Rtr, Fragment and Fin
  Kind kind = Kind::Credit;
  uint8_t sequence = 0;   ///< counts the frames to this receiver
  uint16_t bodyBytes = 0; ///< the lower bits of their number
};
static_assert(sizeof(Header) == 40);

/// The upper bound of Options::longestEagerBytes.
inline constexpr uint32_t kMaxEagerBytes = 64 << 10;

/// Units of the window that an eager message takes, besides one for each byte.
inline constexpr uint32_t kUnitsPerMessage = 64;

struct RtsBody {
  uint64_t bytes;
  uint64_t address; ///< as the transport wants it
  uint64_t key;
  uint32_t isReadable; ///< address and key are valid
  uint32_t remoteIovs; ///< of memory, that the sender can write it to at once; 0: it cannot
};

/// The runs for which an RTR is valid.
enum class Stay : uint8_t {
  OneRun,
  UntilReady, ///< this one, and each later one that a Ready names
  Announced,  ///< this one and all later ones: other messages tell the sender of each
};

struct RtrBody {
  uint64_t bytes; ///< the room
  uint64_t address;
  uint64_t key;
  uint32_t rtrId;     ///< comes as immediate data with the last byte of the put
  uint8_t isWritable; ///< address, key and rtrId are valid; else in fragments
  uint8_t remoteIovs; ///< of memory, which follow; none: `bytes` at `address`
  Stay stay;
  uint8_t hasCanary; ///< the receiver watches the last byte: see kCanary
};

/// The last byte of a buffer until a put has come. A sender whose payload ends otherwise puts it
/// without notifying the receiver.
inline constexpr std::byte kCanary{0xa5};

/// A piece of the memory where a message is wanted.
struct RemoteIov {
  uint64_t address;
  uint64_t bytes;
};
/// The most pieces of memory of one message.
inline constexpr uint32_t kMaxRemoteIovs = 15;

struct CloseBody {
  uint64_t multicasts; ///< frames of the stream that the receiver was sent together with others
};

/// The progress of a rank with its end of a message, in one run.
enum class Progress : uint8_t {
  NotYet,
  Past,    ///< the run is over
  Skipped, ///< the run is not over, and its end has no bytes in it
};

struct ProbeBody {
  uint8_t sends; ///< the rank that probes
  Progress progress = Progress::NotYet;
  uint8_t isPut = 0; ///< the sender put the message of that run into the receiver's buffer
  uint8_t unused[5] = {};
  uint64_t multicasts = 0; ///< frames of the message that went to the probing rank and others
};

struct MulticastBody {
  MessageId message; ///< as the schedule names it: its place is not the same for all
  Kind kind;         ///< Eager or Fragment
  uint8_t unused[7];
};

struct FailureBody {
  uint32_t isOfAll; ///< of everything; else of the stream, or run, in the header
  Rank culprit;
  Rank root; ///< of the tree that passes it on; kNoRank: not to be passed on along a tree
  ErrorKind kind;
  char reason[211];
};

/// The address of a rank, and the token that proves to it that a sender is of its job.
struct RankAddress {
  static constexpr uint32_t kMaxAddressBytes = 96;
  uint64_t token = 0;
  Address monitorAddress;
  uint16_t monitorPort = 0; ///< in network order
  uint16_t addressBytes = 0;
  std::array<std::byte, kMaxAddressBytes> address = {};
};

} // namespace colldsl::network
