#include "runtime/job/LocalRanks.h"

#include "protocol/local/Attach.h"
#include "protocol/remote/NetworkEndpoint.h"
#include "runtime/job/EachNetwork.h"
#include "transports/shm/Sleep.h"

namespace colldsl {

Result<AttachRank> attachOver(const Network &network) {
  NetworkSettings settings = settingsOf(network);
  return withNetwork(network, settings, [](const auto &options, auto open) {
    if (!options)
      return Result<AttachRank>(options.status());
    return Result<AttachRank>([=, given = *options](shm::World &world, Rank rank) {
      return protocol::attach(world, rank, given, open(rank, world.numRanks(), given));
    });
  });
}

std::shared_future<void> prepareNetwork(const Network &network) {
  if (network.kind != NetworkKind::Ofi)
    return {};
  NetworkSettings settings = settingsOf(network);
  Result<ofi::Options> options = ofi::readOptions(settings);
  return options ? ofi::prepare(*options) : std::shared_future<void>();
}

bool shareCores(uint32_t numRanks) { return shm::isOversubscribed(numRanks); }

Result<std::vector<RankOutcome>> runLocalRanks(const LocalOptions &options, const RankBody &body) {
  auto made = shm::World::create(options.numRanks, options.shm);
  if (!made)
    return made.status();
  shm::World &world = **made;
  world.closeDescriptor(); // children inherit the mapping
  ForkOptions forked = options;
  // No other rank can detect the end of a rank that has not joined yet.
  forked.onEnd = [&](Rank rank) {
    if (world.control(rank).pid.load() == 0)
      world.reportDeath(rank);
  };
  return forkRanks(forked, [&](Rank rank) -> Result<std::vector<std::byte>> {
    auto endpoint = options.attach ? options.attach(world, rank) : protocol::attach(world, rank);
    if (!endpoint)
      return endpoint.status();
    return body(**endpoint);
  });
}

} // namespace colldsl
