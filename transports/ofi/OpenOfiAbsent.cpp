// Replaces the transport in a build without libfabric.
#include "transports/ofi/OpenOfi.h"

namespace colldsl::ofi {

bool isBuiltIn() { return false; }
bool isLoadable() { return false; }

std::future<void> prepare(const Options &) {
  return std::async(std::launch::deferred, [] {});
}

Result<std::unique_ptr<network::Transport>> open(const Options &) {
  return Status::error("this colldsl was built without libfabric, and has no transport ofi");
}

} // namespace colldsl::ofi
