#include "executor/LocalRanks.h"

#include "protocol/local/Attach.h"

namespace colldsl {

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
