/// What ranks tell each other of groups in frames of their flows. Little endian.
#pragma once

#include "transports/datagram/Packet.h"

#include <netinet/in.h>

namespace colldsl::datagram {

enum class CastSaying : uint32_t {
  Invitation, ///< from the root to a member: InvitationSaying, and the ranks by place
  Decline,    ///< the answer of one that cannot join: DeclineSaying
  Forward,    ///< from above to a member, of a group that moved: ForwardSaying, and part of a frame
};

struct InvitationSaying {
  CastSaying saying = CastSaying::Invitation;
  uint32_t group = 0;
  uint64_t token = 0;    ///< of what the root says by multicast
  in_addr_t address = 0; ///< where it says that
  in_port_t port = 0;
  uint16_t partBytes = 0;
};

struct DeclineSaying {
  CastSaying saying = CastSaying::Decline;
  uint32_t group = 0;
};

struct ForwardSaying {
  CastSaying saying = CastSaying::Forward;
  Rank root = kNoRank;
  CastHeader header;
};

} // namespace colldsl::datagram
