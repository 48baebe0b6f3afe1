#include "transports/verbs/VerbsOptions.h"

#include "wireup/Environment.h"
#include "wireup/Interfaces.h"

namespace colldsl::verbs {

Result<Options> optionsFromEnvironment() {
  constexpr const char *kWhat = "number up to 255"; // ports and GIDs have no greater ones
  Options options;
  if (const char *device = setting("COLLDSL_VERBS_DEVICE"))
    options.device = device;
  if (Status s = readBind("COLLDSL_VERBS_BIND", options.bind); !s)
    return s;
  if (Status s = readNumber<uint8_t>("COLLDSL_VERBS_PORT", options.port, kWhat); !s)
    return s;
  if (Status s = readNumber<uint8_t>("COLLDSL_VERBS_GID", options.gidIndex, kWhat); !s)
    return s;
  if (Status s =
          readNumber<uint64_t>("COLLDSL_VERBS_IN_ORDER", options.inOrderBytes, "number of bytes");
      !s)
    return s;
  return options;
}

} // namespace colldsl::verbs
