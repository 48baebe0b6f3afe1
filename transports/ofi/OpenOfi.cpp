#include "transports/ofi/OpenOfi.h"

#include "transports/ofi/Libfabric.h"
#include "transports/ofi/OfiCarrier.h"

namespace colldsl::ofi {

bool isBuiltIn() { return true; }
bool isLoadable() { return Library::load().ok(); }

Result<std::unique_ptr<network::Carrier>> open(const Options &options) {
  return OfiCarrier::open(options);
}

} // namespace colldsl::ofi
