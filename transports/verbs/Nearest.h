/// The choice of a rank's device among several.
#pragma once

#include "transports/verbs/Libibverbs.h"
#include "transports/verbs/VerbsOptions.h"
#include "wireup/Interfaces.h"

namespace colldsl::verbs {

/// The devices in the order in which they are to be tried: the named one, or all. The first of all
/// is the nearest of those that are up and in the network of the first that is up. Addresses of
/// iWARP devices do not show their network, so these stay in the order of the list.
std::vector<ibv_device *> inOrder(std::span<ibv_device *const> devices, const Options &options);

/// True if one address reaches the other without a router. `own`: the interfaces that have the
/// Ethernet addresses of this machine.
bool areNeighbors(const ibv_gid &one, const ibv_gid &other, bool isEthernet,
                  std::span<const OwnInterface> own);

} // namespace colldsl::verbs
