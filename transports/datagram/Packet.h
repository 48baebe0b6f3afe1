/// The contents of a datagram: a header and a part of a frame. Little endian, as are all machines
/// that are served.
#pragma once

#include "ir/Ids.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sys/uio.h>

namespace colldsl::datagram {

/// The most packets without an acknowledgement.
inline constexpr uint32_t kWindow = 64;
/// The longest datagram, header included, that is sent or taken.
inline constexpr uint32_t kMaxPacketBytes = 9216;
/// The longest frame that is put together.
inline constexpr uint32_t kMaxFrameBytes = (64 << 10) + 64;

enum class PacketKind : uint8_t {
  Data,         ///< part of a frame
  Status,       ///< a header alone
  Probe,        ///< a header alone, which requests a Status
  Keepalive,    ///< to the keepalive thread of a process: is it alive?
  KeepaliveAck, ///< the answer: the process is alive
  // Packets of a group: MulticastHeader, and the contents that it names.
  Multicast,      ///< part of a frame, from the root
  MulticastProbe, ///< the root requests acknowledgements
  MulticastAck,   ///< the frames that a member and all below it have
  MulticastNack,  ///< the parts that a member misses: MulticastGap, for each frame
  Last = MulticastNack,
};

/// True if packets of this kind have a body; others are headers alone.
inline bool hasBody(PacketKind kind) {
  return kind == PacketKind::Data || kind >= PacketKind::Multicast;
}

/// Bits of PacketHeader::flags.
inline constexpr uint8_t kFirst = 1;    ///< of a frame
inline constexpr uint8_t kFinal = 2;    ///< of a frame
inline constexpr uint8_t kHasStamp = 4; ///< `stamp` is valid
inline constexpr uint8_t kHasEcho = 8;  ///< `echo` is valid
/// Packets sent before the Probe and not acknowledged are lost.
inline constexpr uint8_t kAnswersProbe = 16;
/// The sender waits for the acknowledgement of this packet.
inline constexpr uint8_t kWantsReport = 32;

struct PacketHeader {
  uint32_t checksum = 0; ///< CRC-32C of all that follows
  uint16_t bodyBytes = 0;
  PacketKind kind = PacketKind::Status;
  uint8_t flags = 0;
  uint64_t token = 0; ///< the receiver's: a sender that does not know it is a stranger
  Rank from = kNoRank;
  uint32_t sequence = 0; ///< Data: its number; else how many were sent
  uint32_t acked = 0;    ///< of the receiver's packets: all before this one are here
  uint32_t stamp = 0;    ///< microseconds of the sender's clock
  uint32_t echo = 0;     ///< the receiver's last stamp, and the time since then
  uint32_t unused = 0;
  uint64_t beyond =
      0; ///< bit i: packet acked + 1 + i is here too; Keepalive: the token of the asking rank
};
static_assert(sizeof(PacketHeader) == 48);

/// The beginning of the body of a group's packet. Frames have numbers from 1 on.
struct MulticastHeader {
  uint32_t group = 0; ///< of its root
  Rank root = kNoRank;
  uint64_t number = 0;  ///< Multicast: of the frame; MulticastProbe: of the next one; MulticastAck:
                        ///< all before are here
  uint32_t bytes = 0;   ///< Multicast: of the frame
  uint16_t part = 0;    ///< Multicast
  uint8_t wantsAck = 0; ///< Multicast
  uint8_t unused = 0;
};
static_assert(sizeof(MulticastHeader) == 24);

struct MulticastGap {
  uint64_t number = 0;
  uint64_t parts = 0; ///< bit i: part i is missing
};

struct PacketView {
  PacketHeader header;
  std::span<const std::byte> body;
};

/// The packet in a datagram. Nothing, if it is not whole, unchanged, and meant for the owner of
/// this token.
std::optional<PacketView> parse(std::span<const std::byte> datagram, uint64_t token);

/// Fills in the header's fields about the body.
void seal(PacketHeader &header, std::span<const std::byte> body);
/// Variant of seal() for a body in pieces.
void sealPieces(PacketHeader &header, std::span<const iovec> body);

} // namespace colldsl::datagram
