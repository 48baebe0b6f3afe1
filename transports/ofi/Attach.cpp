#include "transports/ofi/Attach.h"

#include "transports/ofi/OfiEndpoint.h"
#include "transports/shm/ShmBootstrap.h"

#include <unistd.h>

namespace colldsl::ofi {

bool isBuiltIn() { return true; }

// Whoever cannot come says so, for the others wait.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options) {
  Result<std::unique_ptr<OfiEndpoint>> endpoint = OfiEndpoint::make(rank, numRanks, options);
  if (!endpoint) {
    OfiEndpoint::miss(bootstrap, numRanks, endpoint.message());
    return endpoint.status();
  }
  if (Status s = (*endpoint)->meet(bootstrap); !s)
    return s;
  return std::unique_ptr<Endpoint>(endpoint.take());
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options) {
  world.control(rank).pid.store(getpid(), std::memory_order_release);
  shm::Arena arena(world.arenaBegin(rank), world.options().arenaBytes);
  std::mutex mutex;
  shm::Health health(world, rank);
  std::function<void()> idle;
  shm::ShmBootstrap bootstrap(world, rank, arena, mutex, health, idle);
  if (Status s = bootstrap.meet(); !s)
    return s;
  for (uint32_t r = 0; r < world.numRanks(); ++r)
    health.watch(Rank{r}); // until all have met; then each is watched by its peers
  return attach(bootstrap, rank, world.numRanks(), options);
}

} // namespace colldsl::ofi
