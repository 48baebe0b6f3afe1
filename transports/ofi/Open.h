/// Opens the transport for callers that do not include libfabric; it may be built without.
#pragma once

#include "transports/network/Carrier.h"
#include "transports/ofi/Options.h"

namespace colldsl::ofi {

/// Whether it was built with libfabric.
bool isBuiltIn();

/// The settings of the environment: COLLDSL_OFI_PROVIDER, COLLDSL_OFI_DOMAIN, COLLDSL_OFI_BIND; the
/// default for what it does not.
Result<Options> optionsFromEnvironment();

/// What carries frames for this rank. Without libfabric an error.
Result<std::unique_ptr<network::Carrier>> open(const Options &options);

} // namespace colldsl::ofi
