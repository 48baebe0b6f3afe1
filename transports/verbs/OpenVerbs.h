/// Opens the transport for callers that do not include verbs; it may be built without.
#pragma once

#include "transports/network/Carrier.h"
#include "transports/verbs/VerbsOptions.h"

namespace colldsl::verbs {

/// Whether it was built with libibverbs and librdmacm.
bool isBuiltIn();

/// Whether there is a device that it can use: empty, or why not.
std::string whyNot(const Options &options);

/// What carries frames for one rank of so many. Without these libraries an error.
Result<std::unique_ptr<network::Carrier>> open(uint32_t numRanks, const Options &options);

} // namespace colldsl::verbs
