/// Which address a rank is bound to on the network.
#pragma once

#include "topology/Nics.h"
#include "wireup/ProcessInfo.h"

namespace colldsl {

/// Puts it into `bind`, which holds what `variable` of the environment names: an address, which
/// stays; a network, in which this machine has one. Without that `bind` stays as it is where all
/// ranks are on one host; else it is the address from which this host reaches reachableAddress().
/// Of several interfaces in one network the nearest to the last of `boundThreads` is taken.
Status chooseBindAddress(std::span<const ProcessInfo> processes, const char *variable,
                         std::span<const Threads> boundThreads, std::string &bind);

} // namespace colldsl
