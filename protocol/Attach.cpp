#include "protocol/Attach.h"

#include "protocol/AgreedEndpoint.h"
#include "protocol/LocalEndpoint.h"
#include "transports/shm/ShmBootstrap.h"
#include "transports/shm/Sleep.h"

#include <algorithm>

namespace colldsl::protocol {
namespace {

/// What the endpoint is made of.
struct Parts {
  Parts(shm::World &world, Rank self, const Options &options)
      : worker(world, self, options),
        inner(worker, RankGroup::ofAll(world.numRanks(), self), &mutex),
        bootstrap(world, self, worker.arena(), mutex, worker.failureDetector()) {}

  std::mutex mutex; ///< of the worker and its arena
  Worker worker;
  LocalEndpoint inner;
  shm::ShmBootstrap bootstrap;
};

class WorldEndpoint : Parts, public AgreedEndpoint {
public:
  WorldEndpoint(shm::World &world, Rank self, const Options &options)
      : Parts(world, self, options), AgreedEndpoint(inner, bootstrap) {}

  /// After it wakers of all ranks are registered.
  Status join() { return bootstrap.barrier(); }
};

} // namespace

Options optionsOf(const shm::World &world) {
  Options options;
  uint64_t most = std::max<uint64_t>(world.options().singleCopyMinBytes, 1);
  options.singleCopyMinBytes = most;
  options.eagerBytes = static_cast<uint32_t>(std::min<uint64_t>(options.eagerBytes, most - 1));
  options.longestSleep = shm::longestSleepAmong(world.numRanks(), options.longestSleep);
  return options;
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options) {
  if (Status s = shm::exchangePids(world, rank); !s)
    return s;
  auto endpoint = std::make_unique<WorldEndpoint>(world, rank, options);
  if (Status s = endpoint->join(); !s)
    return s;
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

} // namespace colldsl::protocol
