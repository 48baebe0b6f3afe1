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

/// Receives what is sent to `group`, an address of multicast and a port, on the interface with this
/// address, and nothing else.
Result<int> openListener(const sockaddr_in &group, const in_addr &interface);

/// What this socket sends by multicast leaves on the interface with this address, goes no further
/// than its network, and is received on this machine, too.
Status sendToGroupsOn(int file, const in_addr &interface);

/// The bytes that the interface with this address takes at once, IP's header included.
uint32_t mtuOf(const in_addr &address);

} // namespace colldsl::datagram
