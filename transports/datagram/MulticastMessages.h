/// Messages about a group between its root and its members, over the flows between them. Little
/// endian.
#pragma once

#include "transports/datagram/Packet.h"

#include <netinet/in.h>

namespace colldsl::datagram {

enum class MulticastMessage : uint32_t {
  JoinRequest, ///< from the root to a member: JoinRequest, and the ranks by place
  JoinRefusal, ///< the answer of one that cannot join: JoinRefusal
  Forward, ///< from above to a member, of a group that moved: ForwardedPart, and part of a frame
};

struct JoinRequest {
  MulticastMessage kind = MulticastMessage::JoinRequest;
  uint32_t group = 0;
  uint64_t token = 0;    ///< of the root's multicast packets
  in_addr_t address = 0; ///< destination of these packets
  in_port_t port = 0;
  uint16_t partBytes = 0;
};

struct JoinRefusal {
  MulticastMessage kind = MulticastMessage::JoinRefusal;
  uint32_t group = 0;
};

struct ForwardedPart {
  MulticastMessage kind = MulticastMessage::Forward;
  Rank root = kNoRank;
  MulticastHeader header;
};

} // namespace colldsl::datagram
