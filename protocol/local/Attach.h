/// Joins a rank with the others of a world in which all ranks open plans together.
#pragma once

#include "protocol/RankGroup.h"
#include "protocol/local/LocalOptions.h"
#include "transports/shm/World.h"

namespace colldsl::protocol {

/// The options of the worker of a rank, by those of its world.
LocalOptions optionsOf(const shm::World &world);

/// Joins as one rank, once per rank: in a process of its own, or (in tests) in a thread. Waits for
/// all other ranks. All ranks agree on each open (AgreedEndpoint). The endpoint is destroyed before
/// the world.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const LocalOptions &options);

/// As attach(world, rank, options), for a group that has all ranks of the world, and others.
Result<std::unique_ptr<Endpoint>> attach(shm::World &world, const RankGroup &group,
                                         const LocalOptions &options);

inline Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank) {
  return attach(world, rank, optionsOf(world));
}

} // namespace colldsl::protocol
