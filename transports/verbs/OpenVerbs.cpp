#include "transports/verbs/OpenVerbs.h"

#include "transports/verbs/VerbsCarrier.h"

namespace colldsl::verbs {

bool isBuiltIn() { return true; }

std::string whyNot(const Options &options) {
  Result<std::unique_ptr<Device>> device = Device::open(options);
  return device ? "" : device.message();
}

Result<std::unique_ptr<network::Carrier>> open(uint32_t numRanks, const Options &options) {
  return VerbsCarrier::open(numRanks, options);
}

} // namespace colldsl::verbs
