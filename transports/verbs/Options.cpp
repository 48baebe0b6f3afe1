#include "transports/verbs/Options.h"

#include "ir/Numbers.h"
#include "wireup/Environment.h"
#include "wireup/Interfaces.h"

namespace colldsl::verbs {
namespace {

template <typename T> Status readNumber(const char *name, T &value) {
  const char *text = setting(name);
  if (!text)
    return {};
  std::optional<uint8_t> number = parseWhole<uint8_t>(text); // ports and GIDs have no greater ones
  if (!number)
    return Status::error(std::string(name) + " is '" + text + "', which is no number up to 255");
  value = *number;
  return {};
}

} // namespace

Result<Options> optionsFromEnvironment() {
  Options options;
  if (const char *device = setting("COLLDSL_VERBS_DEVICE"))
    options.device = device;
  if (Status s = network::readBind("COLLDSL_VERBS_BIND", options.bind); !s)
    return s;
  if (Status s = readNumber("COLLDSL_VERBS_PORT", options.port); !s)
    return s;
  if (Status s = readNumber("COLLDSL_VERBS_GID", options.gidIndex); !s)
    return s;
  return options;
}

} // namespace colldsl::verbs
