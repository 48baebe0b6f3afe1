#include "transports/ofi/OfiOptions.h"

#include "transports/ofi/OpenOfi.h"
#include "wireup/Environment.h"
#include "wireup/Interfaces.h"

namespace colldsl::ofi {

Result<Options> optionsFromEnvironment() {
  Options options;
  auto take = [](const char *name, std::string &value) {
    if (const char *given = setting(name))
      value = given;
  };
  take("COLLDSL_OFI_PROVIDER", options.provider);
  take("COLLDSL_OFI_DOMAIN", options.domain);
  if (Status s = readBind("COLLDSL_OFI_BIND", options.bind); !s)
    return s;
  return options;
}

} // namespace colldsl::ofi
