#include "transports/verbs/VerbsOptions.h"

namespace colldsl::verbs {

Result<Options> readOptions(NetworkSettings &settings) {
  constexpr const char *kWhat = "number up to 255"; // ports and GIDs have no greater ones
  Options options;
  settings.read("COLLDSL_VERBS_DEVICE", options.device);
  if (Status s = settings.readBind("COLLDSL_VERBS_BIND", options.bind); !s)
    return s;
  if (Status s = settings.readNumber<uint8_t>("COLLDSL_VERBS_PORT", options.port, kWhat); !s)
    return s;
  if (Status s = settings.readNumber<uint8_t>("COLLDSL_VERBS_GID", options.gidIndex, kWhat); !s)
    return s;
  if (Status s = settings.readNumber<uint64_t>("COLLDSL_VERBS_IN_ORDER", options.inOrderBytes,
                                               "number of bytes");
      !s)
    return s;
  return options;
}

} // namespace colldsl::verbs
