/// What ranks tell each other of groups in frames of their flows. Little endian.
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
  MulticastMessage saying = MulticastMessage::JoinRequest;
  uint32_t group = 0;
  uint64_t token = 0;    ///< of what the root says by multicast
  in_addr_t address = 0; ///< where it says that
  in_port_t port = 0;
  uint16_t partBytes = 0;
};

struct JoinRefusal {
  MulticastMessage saying = MulticastMessage::JoinRefusal;
  uint32_t group = 0;
};

struct ForwardedPart {
  MulticastMessage saying = MulticastMessage::Forward;
  Rank root = kNoRank;
  MulticastHeader header;
};

} // namespace colldsl::datagram
