#include "transports/ofi/OfiOptions.h"

#include "transports/ofi/OpenOfi.h"

#include <unistd.h>

namespace colldsl::ofi {
namespace {

constexpr size_t kMaxName = 64; // libfabric's FI_NAME_MAX

} // namespace

bool hasCudaDriver() { return access("/dev/nvidiactl", F_OK) == 0; }

Result<Options> readOptions(NetworkSettings &settings) {
  Options options;
  settings.read("COLLDSL_OFI_PROVIDER", options.provider);
  settings.read("COLLDSL_OFI_DOMAIN", options.domain);
  if (options.provider.size() > kMaxName)
    return Status::error("libfabric has no provider whose name is longer than " +
                         std::to_string(kMaxName) + " bytes");
  if (Status s = settings.readBind("COLLDSL_OFI_BIND", options.bind); !s)
    return s;
  if (settings.has("COLLDSL_OFI_DEVICES")) {
    bool reachesDevices = false;
    if (Status s = settings.readFlag("COLLDSL_OFI_DEVICES", reachesDevices); !s)
      return s;
    options.devices = reachesDevices ? DeviceMemory::Always : DeviceMemory::Never;
  }
  return options;
}

} // namespace colldsl::ofi
