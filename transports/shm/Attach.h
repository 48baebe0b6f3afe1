/// How a rank joins the others of a world in which all ranks open plans together.
#pragma once

#include "transports/lanes/Options.h"
#include "transports/shm/World.h"

namespace colldsl::shm {

/// Of the lanes of a rank of this world, as its options say.
lanes::Options laneOptions(const World &world);

/// Joins as one rank, once per rank: in a process of its own, or (in tests) in a thread. Waits for
/// all other ranks. Messages travel over lanes, and all ranks agree on each open
/// (transports/agreement). The endpoint is destroyed before the world.
Result<std::unique_ptr<Endpoint>> attach(World &world, Rank rank, const lanes::Options &options);

inline Result<std::unique_ptr<Endpoint>> attach(World &world, Rank rank) {
  return attach(world, rank, laneOptions(world));
}

} // namespace colldsl::shm
