#include "transports/ofi/Options.h"

#include "transports/ofi/Attach.h"

#include <cstdlib>

namespace colldsl::ofi {

Options optionsFromEnvironment() {
  Options options;
  auto take = [](const char *name, std::string &value) {
    if (const char *given = std::getenv(name))
      value = given;
  };
  take("COLLDSL_OFI_PROVIDER", options.provider);
  take("COLLDSL_OFI_DOMAIN", options.domain);
  take("COLLDSL_OFI_BIND", options.bind);
  return options;
}

} // namespace colldsl::ofi
