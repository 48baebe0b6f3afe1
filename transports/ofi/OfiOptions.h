/// Options of the transport over libfabric.
#pragma once

#include "transports/network/NetworkOptions.h"

namespace colldsl::ofi {

/// True if this machine has a driver of CUDA's devices.
bool hasCudaDriver();

/// The choice of a provider's offer that reaches the memory of GPUs.
enum class DeviceMemory : uint8_t {
  Never,
  IfAlike, ///< if messages of the host's memory go by it as they do without
  Always,  ///< if there is such an offer
};

/// Providers without sockets take no notice of `bind`.
struct Options : network::Options {
  std::string provider = "tcp"; ///< as fi_info(1) names it; empty: libfabric's first choice
  std::string domain;           ///< of the provider, a network interface; empty: the nearest one
  DeviceMemory devices = hasCudaDriver() ? DeviceMemory::IfAlike : DeviceMemory::Never;
};

} // namespace colldsl::ofi
