/// Opens the transport for callers that do not include verbs; it may be built without.
#pragma once

#include "transports/network/Transport.h"
#include "transports/verbs/VerbsOptions.h"

namespace colldsl::verbs {

/// True if the transport was built with libibverbs and librdmacm.
bool isBuiltIn();

/// The reason why there is no device that the transport can use; empty: there is one.
std::string whyNot(const Options &options);

/// Opens the transport of frames for one of `numRanks` ranks. Without these libraries an error.
Result<std::unique_ptr<network::Transport>> open(uint32_t numRanks, const Options &options);

} // namespace colldsl::verbs
