#include "transports/shm/Attach.h"

#include "transports/agreement/AgreedEndpoint.h"
#include "transports/lanes/LaneEndpoint.h"
#include "transports/shm/ShmBootstrap.h"
#include "transports/shm/Sleep.h"

#include <algorithm>

namespace colldsl::shm {
namespace {

/// What the endpoint is made of.
struct Parts {
  Parts(World &world, Rank self, const lanes::Options &options)
      : lanes(world, self, options), inner(lanes, lanes::LaneGroup::ofWorld(world, self), &mutex),
        bootstrap(world, self, lanes.arena(), mutex, lanes.health()) {}

  std::mutex mutex; ///< of the lanes and their arena
  lanes::Lanes lanes;
  lanes::LaneEndpoint inner;
  ShmBootstrap bootstrap;
};

class WorldEndpoint : Parts, public agreement::AgreedEndpoint {
public:
  WorldEndpoint(World &world, Rank self, const lanes::Options &options)
      : Parts(world, self, options), AgreedEndpoint(inner, bootstrap) {}

  /// After it wakers of all ranks are registered.
  Status join() { return bootstrap.barrier(); }
};

} // namespace

lanes::Options laneOptions(const World &world) {
  lanes::Options options;
  uint64_t most = std::max<uint64_t>(world.options().singleCopyMinBytes, 1);
  options.singleCopyMinBytes = most;
  options.eagerBytes = static_cast<uint32_t>(std::min<uint64_t>(options.eagerBytes, most - 1));
  options.longestSleep = longestSleepAmong(world.numRanks(), options.longestSleep);
  return options;
}

Result<std::unique_ptr<Endpoint>> attach(World &world, Rank rank, const lanes::Options &options) {
  if (Status s = meet(world, rank); !s)
    return s;
  auto endpoint = std::make_unique<WorldEndpoint>(world, rank, options);
  if (Status s = endpoint->join(); !s)
    return s;
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

} // namespace colldsl::shm
