#include "protocol/local/Attach.h"

#include "protocol/local/CopyCosts.h"
#include "protocol/local/LocalEndpoint.h"
#include "protocol/open/AgreedEndpoint.h"
#include "transports/shm/ShmBootstrap.h"
#include "transports/shm/Sleep.h"

#include <algorithm>

namespace colldsl::protocol {
namespace {

/// Members that the base AgreedEndpoint refers to; they outlive it.
struct Parts {
  Parts(shm::World &world, const RankGroup &group, const LocalOptions &options)
      : worker(world, group.rankAt(group.self), options), inner(worker, group, &mutex),
        bootstrap(world, worker.rank(), worker.arena(), mutex, worker.failureDetector()) {}

  std::mutex mutex; ///< of the worker and its arena
  LocalWorker worker;
  LocalEndpoint inner;
  shm::ShmBootstrap bootstrap;
};

class AttachedEndpoint : Parts, public AgreedEndpoint {
public:
  AttachedEndpoint(shm::World &world, const RankGroup &group, const LocalOptions &options)
      : Parts(world, group, options), AgreedEndpoint(inner, bootstrap, group) {}

  /// Waits for all ranks: afterwards their wakers are registered.
  Status join() {
    if (Status s = bootstrap.barrier(); !s)
      return s;
    if (worker.world().measuresCopies()) {
      measureCopies();
      if (Status s = bootstrap.barrier(); !s)
        return s;
    }
    if (std::optional<shm::CopySizes> sizes = worker.world().copySizes()) {
      worker.setCopyLimits({sizes->singleCopyMinBytes, sizes->rendezvousThresholdBytes});
      inner.refreshCaps();
      refreshCaps();
    }
    return {};
  }

private:
  // The barrier behind it finds a death.
  void measureCopies() {
    std::lock_guard held(mutex);
    measureCopySizes(worker);
  }
};

} // namespace

LocalOptions optionsOf(const shm::World &world) {
  LocalOptions options;
  uint64_t most = std::max<uint64_t>(world.options().singleCopyMinBytes, 1);
  options.singleCopyMinBytes = most;
  bool isGiven = !world.measuresCopies() && !world.copySizes();
  if (isGiven) // only shorter messages are eager
    options.rendezvousThresholdBytes =
        static_cast<uint32_t>(std::min<uint64_t>(options.rendezvousThresholdBytes, most - 1));
  options.longestSleep = shm::longestSleepAmong(world.numRanks(), options.longestSleep);
  return options;
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank,
                                         const LocalOptions &options) {
  return attach(world, RankGroup::ofAll(world.numRanks(), rank), options);
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, const RankGroup &group,
                                         const LocalOptions &options) {
  if (Status s = shm::exchangePids(world, group.rankAt(group.self)); !s)
    return s;
  auto endpoint = std::make_unique<AttachedEndpoint>(world, group, options);
  if (Status s = endpoint->join(); !s)
    return s;
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

} // namespace colldsl::protocol
