#include "transports/ofi/Open.h"

#include "transports/ofi/OfiCarrier.h"

namespace colldsl::ofi {

bool isBuiltIn() { return true; }

Result<std::unique_ptr<network::Carrier>> open(const Options &options) {
  return OfiCarrier::open(options);
}

} // namespace colldsl::ofi
