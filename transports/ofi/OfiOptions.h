/// Options of the transport over libfabric.
#pragma once

#include "transports/network/NetworkOptions.h"

namespace colldsl::ofi {

/// True if this machine has a driver of CUDA's devices.
bool hasCudaDriver();

/// Providers without sockets take no notice of `bind`.
struct Options : network::Options {
  std::string provider = "tcp"; ///< as fi_info(1) names it; empty: libfabric's first choice
  std::string domain;           ///< of the provider, a network interface; empty: the nearest one
  bool reachesDevices = hasCudaDriver(); ///< if the provider can: the memory of GPUs
};

} // namespace colldsl::ofi
