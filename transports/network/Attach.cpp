#include "transports/network/Attach.h"

#include "transports/shm/ShmBootstrap.h"

namespace colldsl::network {

// Whoever cannot come says so, for the others wait.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options,
                                         Result<std::unique_ptr<Carrier>> carrier) {
  Result<std::unique_ptr<NetworkEndpoint>> endpoint =
      carrier ? NetworkEndpoint::make(rank, numRanks, options, carrier.take()) : carrier.status();
  if (!endpoint) {
    missCards(bootstrap, numRanks, endpoint.message());
    return endpoint.status();
  }
  if (Status s = (*endpoint)->meet(bootstrap); !s)
    return s;
  return std::unique_ptr<Endpoint>(endpoint.take());
}

Result<std::unique_ptr<Endpoint>>
attachTo(shm::World &world, Rank rank,
         const std::function<Result<std::unique_ptr<Endpoint>>(Bootstrap &)> &attach) {
  shm::Arena arena(world.arenaBegin(rank), world.options().arenaBytes);
  std::mutex mutex;
  shm::Health health(world, rank);
  shm::ShmBootstrap bootstrap(world, rank, arena, mutex, health);
  if (Status s = bootstrap.meet(); !s)
    return s;
  for (uint32_t r = 0; r < world.numRanks(); ++r)
    health.watch(Rank{r}); // until all have met; then each is watched by its peers
  return attach(bootstrap);
}

} // namespace colldsl::network
