/// How a rank joins the others of a world in which all ranks open plans together.
#pragma once

#include "protocol/RankGroup.h"
#include "protocol/local/LocalOptions.h"
#include "transports/shm/World.h"

namespace colldsl::protocol {

/// Of the worker of a rank of this world, by its options.
LocalOptions optionsOf(const shm::World &world);

/// Joins as one rank, once per rank: in a process of its own, or (in tests) in a thread. Waits for
/// all other ranks. All ranks agree on each open (AgreedEndpoint). The endpoint is destroyed before
/// the world.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const LocalOptions &options);

/// The same where ranks of the world are some of a larger group, which has them all.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, const RankGroup &group,
                                         const LocalOptions &options);

inline Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank) {
  return attach(world, rank, optionsOf(world));
}

} // namespace colldsl::protocol
