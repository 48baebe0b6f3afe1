#include "transports/verbs/Attach.h"

#include "transports/network/Attach.h"
#include "transports/verbs/VerbsCarrier.h"

namespace colldsl::verbs {

bool isBuiltIn() { return true; }

std::string whyNot(const Options &options) {
  Result<std::unique_ptr<Device>> device = Device::open(options);
  return device ? "" : device.message();
}

Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options) {
  return network::attach(bootstrap, rank, numRanks, options, VerbsCarrier::open(numRanks, options));
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options) {
  return network::attachTo(world, rank, [&](Bootstrap &bootstrap) {
    return attach(bootstrap, rank, world.numRanks(), options);
  });
}

} // namespace colldsl::verbs
