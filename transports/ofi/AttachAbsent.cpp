// Stands for everything here where there is no libfabric.
#include "transports/ofi/Attach.h"

namespace colldsl::ofi {

bool isBuiltIn() { return false; }

Result<std::unique_ptr<Endpoint>> attach(shm::World &, Rank, const Options &) {
  return Status::error("this colldsl was built without libfabric, and has no transport ofi");
}

} // namespace colldsl::ofi
