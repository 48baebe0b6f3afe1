/// Sockets for datagrams. IPv4. Errors: values.
#pragma once

#include "ir/Result.h"

#include <netinet/in.h>
#include <string>

namespace colldsl::datagram {

struct Socket {
  int file = -1;
  sockaddr_in name = {}; ///< where it is bound
};

/// At any port of this address, which is this machine's.
Result<Socket> openSocket(const in_addr &address);

/// The bytes that the interface with this address takes at once, IP's header included.
uint32_t mtuOf(const in_addr &address);

} // namespace colldsl::datagram
