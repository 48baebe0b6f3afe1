/// Which device of several a rank takes.
#pragma once

#include "transports/verbs/Libibverbs.h"
#include "transports/verbs/VerbsOptions.h"
#include "wireup/Interfaces.h"

namespace colldsl::verbs {

/// In the order in which they are to be tried: the one that is named; or all, and before the
/// others, of those that are up and in the network of the first that is, the nearest. Addresses of
/// iWARP devices do not show their network: they stay in the order of the list.
std::vector<ibv_device *> inOrder(std::span<ibv_device *const> devices, const Options &options);

/// Whether what has the one address reaches the other without a router. `own`: the interfaces that
/// Ethernet addresses are of.
bool areNeighbors(const ibv_gid &one, const ibv_gid &other, bool isEthernet,
                  std::span<const network::OwnInterface> own);

} // namespace colldsl::verbs
