/// The way into the transport over datagrams.
#pragma once

#include "transports/datagram/Calls.h"
#include "transports/datagram/Options.h"
#include "transports/shm/World.h"
#include "wireup/Bootstrap.h"

namespace colldsl::datagram {

/// What the environment says: COLLDSL_DATAGRAM_BIND; the default for what it does not.
Result<Options> optionsFromEnvironment();

/// A rank of those that a bootstrap brings together. Waits for all others; if one cannot come, none
/// can, and all are told why. `calls` outlives it.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options, Calls &calls = Calls::real());

/// A rank of a world of this machine, which is used to find the others and for nothing else.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options,
                                         Calls &calls = Calls::real());

} // namespace colldsl::datagram
