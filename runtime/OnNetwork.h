/// The network as a rank of a job finds it, for who reaches other nodes in a way of its own.
#pragma once

#include "runtime/WireUp.h"
#include "transports/network/Carrier.h"

namespace colldsl {

struct OnNetwork {
  std::unique_ptr<network::Carrier> carrier;
  network::Options options;
};

/// Collective: bound to the address that wireUp() would take. An error is one on all ranks. Without
/// COLLDSL_OFI_PROVIDER it is the provider with the fewest layers.
Result<OnNetwork> openNetwork(const OutOfBand &launcher);

} // namespace colldsl
