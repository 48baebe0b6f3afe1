/// Messages between two ranks, of which each has them in memory of the host or in memory that its
/// transport registers as a device's, with a copy of no meaning on the host.
#pragma once

#include "tests/transports/NetworkPair.h"
#include "transports/network/RegisteredMemory.h"

namespace colldsl::test {

struct DeviceExchange {
  std::array<bool, 2> isOnDevice = {true, true}; ///< by rank
  std::vector<uint64_t> sizes;                   ///< of the messages that each sends to the other
  std::array<uint32_t, 2> pieces = {1, 1};       ///< of each message, where a rank receives it
  Transfer way = {};                             ///< of all messages
  int dmaBuf = -1;                               ///< that the device memory is said to be of

  // Counted by run().
  std::array<uint32_t, 2> cameToDevice = {}; ///< messages, by rank
  std::array<uint32_t, 2> heldSends = {};    ///< whose receivers wanted them from the host

  /// Exchanges all messages once, in a plan of their own. Empty: all came right.
  std::string run(NetworkPair &pair);
};

} // namespace colldsl::test
