/// Opens the transport for callers that do not include libfabric; it may be built without.
#pragma once

#include "transports/network/Transport.h"
#include "transports/ofi/OfiOptions.h"
#include "wireup/NetworkSettings.h"

#include <future>

namespace colldsl::ofi {

/// True if the transport was built with libfabric.
bool isBuiltIn();

/// True if libfabric is here, too. Loads it.
bool isLoadable();

/// From the options provider, domain, bind and devices; defaults for those that are not set.
Result<Options> readOptions(NetworkSettings &settings);

/// Loads libfabric in another thread, and lets it find its providers: a third of a second. Ranks
/// that this process forks after that has ended have both done. A library that cannot be loaded is
/// an error of open(). For programs whose environment is their own: it sets variables of libfabric
/// which are not set.
std::future<void> prepare(const Options &options);

/// Opens the transport of frames for this rank. Without libfabric an error.
Result<std::unique_ptr<network::Transport>> open(const Options &options);

} // namespace colldsl::ofi
