/// Variables of the environment.
#pragma once

#include <cstdlib>

namespace colldsl {

/// The value of a variable; null if it is empty, too.
inline const char *setting(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value ? value : nullptr;
}

} // namespace colldsl
