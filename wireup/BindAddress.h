/// The choice of the address that a rank is bound to on the network.
#pragma once

#include "topology/Nics.h"
#include "wireup/NetworkSettings.h"
#include "wireup/ProcessInfo.h"

namespace colldsl {

/// Puts the address into `bind`, which holds the option `bind` of the settings: an address, which
/// stays; or a network, in which this machine has an address. If the option is not set, `bind`
/// stays as it is if all ranks are on one host; else it becomes the address from which this host
/// reaches reachableAddress(). Among several interfaces in one network the nearest to the last of
/// `boundThreads` is taken.
Status chooseBindAddress(std::span<const ProcessInfo> processes, NetworkSettings &settings,
                         std::span<const Threads> boundThreads, std::string &bind);

} // namespace colldsl
