/// The way into the transport for who knows nothing of verbs, and may have been built without.
#pragma once

#include "transports/shm/World.h"
#include "transports/verbs/Options.h"
#include "wireup/Bootstrap.h"

namespace colldsl::verbs {

/// Whether it was built with libibverbs and librdmacm.
bool isBuiltIn();

/// Whether there is a device that it can use: empty, or why not.
std::string whyNot(const Options &options);

/// A rank of those that a bootstrap brings together. Waits for all others; if one cannot come, none
/// can, and all are told why. Without these libraries an error.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options);

/// A rank of a world of this machine, which is used to find the others and for nothing else.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options);

} // namespace colldsl::verbs
