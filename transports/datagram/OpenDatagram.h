/// The way into the transport over datagrams.
#pragma once

#include "transports/datagram/DatagramOptions.h"
#include "transports/datagram/SocketCalls.h"
#include "transports/network/Carrier.h"

namespace colldsl::datagram {

/// The settings of the environment: COLLDSL_DATAGRAM_BIND; defaults for the others.
Result<Options> optionsFromEnvironment();

/// Opens the carrier of frames for one rank. `calls` outlives it.
Result<std::unique_ptr<network::Carrier>> open(Rank self, const Options &options,
                                               Calls &calls = Calls::real());

} // namespace colldsl::datagram
