#include "protocol/remote/NetworkEndpoint.h"

#include "transports/shm/ShmBootstrap.h"

namespace colldsl::protocol {

NetworkEndpoint::NetworkEndpoint(NetworkParts parts, RankGroup group)
    : NetworkParts(std::move(parts)), RemoteEndpoint(*ownWorker, std::move(group), mutex.get()) {}

Result<std::unique_ptr<NetworkEndpoint>> NetworkEndpoint::make(Rank self, uint32_t numRanks,
                                                               const network::Options &options,
                                                               MadeTransport transport) {
  if (!transport)
    return transport.status();
  NetworkParts parts{std::make_unique<std::mutex>(), nullptr};
  Result<std::unique_ptr<RemoteWorker>> worker =
      RemoteWorker::make(self, numRanks, options, transport.take(), parts.mutex.get());
  if (!worker)
    return worker.status();
  parts.ownWorker = worker.take();
  return std::unique_ptr<NetworkEndpoint>(
      new NetworkEndpoint(std::move(parts), RankGroup::ofAll(numRanks, self)));
}

size_t NetworkEndpoint::numPeers() const {
  auto held = hold();
  return ownWorker->numPeers();
}

uint64_t NetworkEndpoint::frameBytes() const {
  auto held = hold();
  return ownWorker->frameBytes();
}

uint64_t NetworkEndpoint::numRefused() const {
  auto held = hold();
  return ownWorker->numRefused();
}

// A rank that cannot join notifies the others, for they wait.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const network::Options &options,
                                         NetworkEndpoint::MadeTransport transport) {
  Result<std::unique_ptr<NetworkEndpoint>> endpoint =
      NetworkEndpoint::make(rank, numRanks, options, std::move(transport));
  if (!endpoint) {
    network::exchangeFailure(bootstrap, numRanks, endpoint.message());
    return endpoint.status();
  }
  Result<network::Directory> directory =
      network::exchangeAddresses(bootstrap, (*endpoint)->rankAddress(), numRanks);
  if (!directory)
    return directory.status();
  if (Status s = (*endpoint)->start(directory.take()); !s)
    return s;
  return std::unique_ptr<Endpoint>(endpoint.take());
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank,
                                         const network::Options &options,
                                         NetworkEndpoint::MadeTransport transport) {
  shm::Arena arena(world.arenaBegin(rank), world.options().arenaBytes);
  std::mutex mutex;
  shm::FailureDetector failureDetector(world, rank);
  shm::ShmBootstrap bootstrap(world, rank, arena, mutex, failureDetector);
  if (Status s = bootstrap.exchangePids(); !s)
    return s;
  for (uint32_t r = 0; r < world.numRanks(); ++r)
    failureDetector.watch(Rank{r}); // until all have met; then each is watched by its peers
  return attach(bootstrap, rank, world.numRanks(), options, std::move(transport));
}

} // namespace colldsl::protocol
