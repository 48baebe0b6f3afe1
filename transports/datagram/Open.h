/// The way into the transport over datagrams.
#pragma once

#include "transports/datagram/Calls.h"
#include "transports/datagram/Options.h"
#include "transports/network/Carrier.h"

namespace colldsl::datagram {

/// What the environment says: COLLDSL_DATAGRAM_BIND; the default for what it does not.
Result<Options> optionsFromEnvironment();

/// What carries frames for one rank. `calls` outlives it.
Result<std::unique_ptr<network::Carrier>> open(Rank self, const Options &options,
                                               Calls &calls = Calls::real());

} // namespace colldsl::datagram
