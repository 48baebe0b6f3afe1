/// Network interfaces, among those that libfabric offers, that serve equally well.
#pragma once

#include "topology/Nics.h"

#include <rdma/fabric.h>

namespace colldsl::ofi {

/// The equal offers in a list of fi_getinfo(): the first that is up, and of each other domain the
/// first that is up, is on the same network and can do the same. If all are down, the first alone.
std::vector<const fi_info *> equalDomains(const fi_info *offers);

NicName nicOf(const fi_info &offer);

} // namespace colldsl::ofi
