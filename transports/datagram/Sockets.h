/// Sockets for datagrams. IPv4. Errors: values.
#pragma once

#include "ir/Result.h"

#include <netinet/in.h>
#include <string>

namespace colldsl::datagram {

struct Socket {
  int file = -1;
  sockaddr_in name = {}; ///< address that it is bound to
};

/// Opens a socket at any port of this address, which is this machine's.
Result<Socket> openSocket(const in_addr &address);

/// Opens a socket that receives the datagrams to `group`, an address of multicast and a port, on
/// the interface with this address, and nothing else.
Result<int> openListener(const sockaddr_in &group, const in_addr &interface);

/// Lets the multicast packets of this socket leave on the interface with this address, go no
/// further than its network, and reach this machine, too.
Status sendToGroupsOn(int file, const in_addr &interface);

/// The longest packet that the interface with this address takes at once, IP's header included.
uint32_t mtuOf(const in_addr &address);

} // namespace colldsl::datagram
