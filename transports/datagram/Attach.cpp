#include "transports/datagram/Attach.h"

#include "transports/datagram/DatagramCarrier.h"
#include "transports/network/Attach.h"
#include "wireup/Interfaces.h"

namespace colldsl::datagram {

Result<Options> optionsFromEnvironment() {
  Options options;
  if (Status s = network::readBind("COLLDSL_DATAGRAM_BIND", options.bind); !s)
    return s;
  return options;
}

Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options, Calls &calls) {
  Result<std::unique_ptr<DatagramCarrier>> carrier = DatagramCarrier::open(rank, options, calls);
  if (!carrier)
    return network::attach(bootstrap, rank, numRanks, options, carrier.status());
  return network::attach(bootstrap, rank, numRanks, options,
                         std::unique_ptr<network::Carrier>(carrier.take()));
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &world, Rank rank, const Options &options,
                                         Calls &calls) {
  return network::attachTo(world, rank, [&](Bootstrap &bootstrap) {
    return attach(bootstrap, rank, world.numRanks(), options, calls);
  });
}

} // namespace colldsl::datagram
