#include "transports/ofi/Attach.h"

#include "transports/network/Attach.h"
#include "transports/ofi/OfiCarrier.h"

namespace colldsl::ofi {

bool isBuiltIn() { return true; }

Result<std::unique_ptr<network::Carrier>> open(const Options &options) {
  return OfiCarrier::open(options);
}

Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options) {
  return network::attach(bootstrap, rank, numRanks, options, open(options));
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options) {
  return network::attachTo(world, rank, [&](Bootstrap &bootstrap) {
    return attach(bootstrap, rank, world.numRanks(), options);
  });
}

} // namespace colldsl::ofi
