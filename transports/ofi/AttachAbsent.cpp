// Stands for everything here where there is no libfabric.
#include "transports/ofi/Attach.h"

namespace colldsl::ofi {

bool isBuiltIn() { return false; }

namespace {

Status absent() {
  return Status::error("this colldsl was built without libfabric, and has no transport ofi");
}

} // namespace

Result<std::unique_ptr<network::Carrier>> open(const Options &) { return absent(); }

Result<std::unique_ptr<Endpoint>> attach(Bootstrap &, Rank, uint32_t, const Options &) {
  return absent();
}

Result<std::unique_ptr<Endpoint>> attach(shm::World &, Rank, const Options &) { return absent(); }

} // namespace colldsl::ofi
