/// The network interfaces of this machine, as this process sees them. Errors: values.
#pragma once

#include "ir/Result.h"

#include <array>
#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace colldsl {

/// An IPv6 address; IPv4 addresses are mapped, ::ffff:10.0.0.1. Zeros: none.
struct Address {
  std::array<uint8_t, 16> bytes = {};

  bool isOfIpv4() const;
  friend bool operator==(const Address &, const Address &) = default;
};

/// An address and a port as sockets want them.
struct SocketName {
  sockaddr_storage name = {};
  socklen_t bytes = sizeof(sockaddr_storage);

  SocketName() = default;
  /// `port`: in the order of the network.
  SocketName(const Address &address, uint16_t port);
  sockaddr *get() { return reinterpret_cast<sockaddr *>(&name); }
  Address address() const;
  uint16_t port() const;
};

struct Interface {
  Address address;
  uint32_t bits = 0; ///< of the address, from the first on, that its network shares

  bool reaches(const Address &other) const;
};

struct OwnInterface : Interface {
  std::string name;
};

/// The interfaces that are up, but loopback, in the order of the kernel. Without addresses that
/// only mean something on one cable.
std::vector<OwnInterface> ownInterfaces();

/// The interfaces of `own` in the very network of the one with this address. Each has one address;
/// that one has this address. Without interfaces that drop packets which the kernel would answer
/// through another one (strict rp_filter). Empty: none has this address.
std::vector<OwnInterface> besides(const std::vector<OwnInterface> &own, const Address &address);

/// The address as people write it.
std::string inWords(const Address &address);
/// "10.0.0.1", "fd00::1".
Result<Address> readAddress(const std::string &text);

/// Checks that an address, or a network, can be that of one interface. An error has the rest of a
/// sentence: "not the address of one interface".
Status checkBind(const std::string &text);

/// This machine's address in a network, if `place` is one ("10.0.0.0/24", "fd00::/64"); else
/// `place` itself.
Result<std::string> addressAt(const std::string &place);

/// The address of this machine from which the kernel would send to another one.
Result<std::string> addressTowards(const Address &other);

} // namespace colldsl
