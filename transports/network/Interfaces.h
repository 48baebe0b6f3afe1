/// The network interfaces of this machine, as this process sees them. IPv4. Errors: values.
#pragma once

#include "ir/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace colldsl::network {

/// In the order of the network, as sockets want them.
struct Interface {
  uint32_t address = 0;
  uint32_t mask = 0;

  bool reaches(uint32_t other) const { return (address & mask) == (other & mask); }
};

/// Of those that are up, but loopback, as the kernel lists them.
std::vector<Interface> ownInterfaces();

/// As people write it.
std::string inWords(uint32_t address);

/// This machine's address in a network, if `place` is one ("10.0.0.0/24"); else `place` itself.
Result<std::string> addressAt(const std::string &place);

/// The address of this machine from which the kernel would talk to another one.
Result<std::string> addressTowards(uint32_t other);

} // namespace colldsl::network
