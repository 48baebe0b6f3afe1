/// The way into the transport for who knows nothing of libfabric, and may have been built without.
#pragma once

#include "transports/network/Carrier.h"
#include "transports/ofi/Options.h"
#include "transports/shm/World.h"
#include "wireup/Bootstrap.h"

namespace colldsl::ofi {

/// Whether it was built with libfabric.
bool isBuiltIn();

/// What the environment says: COLLDSL_OFI_PROVIDER, COLLDSL_OFI_DOMAIN, COLLDSL_OFI_BIND; the
/// default for what it does not.
Result<Options> optionsFromEnvironment();

/// What carries frames for this rank. Without libfabric an error.
Result<std::unique_ptr<network::Carrier>> open(const Options &options);

/// A rank of those that a bootstrap brings together. Waits for all others; if one cannot come, none
/// can, and all are told why. Without
/// libfabric an error.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options);

/// A rank of a world of this machine, which is used to find the others and for nothing else.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options);

} // namespace colldsl::ofi
