/// An endpoint whose ranks open plans alone, with a worker of its own.
#pragma once

#include "protocol/local/LocalEndpoint.h"
#include "transports/shm/ShmBootstrap.h"

namespace colldsl::test {

struct OwnWorker {
  protocol::LocalWorker ownWorker;
  std::mutex mutex;
};

class EndpointOfOwnWorker : OwnWorker, public protocol::LocalEndpoint {
public:
  EndpointOfOwnWorker(shm::World &world, Rank self, const protocol::LocalOptions &options)
      : OwnWorker{{world, self, options}, {}},
        LocalEndpoint(ownWorker, protocol::RankGroup::ofAll(world.numRanks(), self), &mutex) {}
};

/// Joins as one rank of a world in which all ranks do so, and waits for them. The world outlives
/// it.
inline Result<std::unique_ptr<Endpoint>> attachAlone(shm::World &world, Rank rank,
                                                     const protocol::LocalOptions &options) {
  if (Status s = shm::exchangePids(world, rank); !s)
    return s;
  return std::unique_ptr<Endpoint>(std::make_unique<EndpointOfOwnWorker>(world, rank, options));
}

} // namespace colldsl::test
