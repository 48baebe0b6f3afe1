#include "transports/datagram/OpenDatagram.h"

#include "transports/datagram/DatagramCarrier.h"
#include "wireup/Interfaces.h"

namespace colldsl::datagram {

Result<Options> optionsFromEnvironment() {
  Options options;
  if (Status s = readBind("COLLDSL_DATAGRAM_BIND", options.bind); !s)
    return s;
  return options;
}

Result<std::unique_ptr<network::Carrier>> open(Rank self, const Options &options, Calls &calls) {
  Result<std::unique_ptr<DatagramCarrier>> carrier = DatagramCarrier::open(self, options, calls);
  if (!carrier)
    return carrier.status();
  return std::unique_ptr<network::Carrier>(carrier.take());
}

} // namespace colldsl::datagram
