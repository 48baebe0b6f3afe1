/// Variables of the environment.
#pragma once

#include "ir/Numbers.h"
#include "ir/Result.h"

#include <cstdlib>

namespace colldsl {

/// The value of a variable; null if it is empty, too.
inline const char *setting(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value ? value : nullptr;
}

/// Puts the number that a variable has into `number`, which stays if the variable is not set. An
/// error, which says that the value is no `what`: it is no number that Given holds.
template <typename Given, typename T>
Status readNumber(const char *variable, T &number, const char *what) {
  const char *text = setting(variable);
  if (!text)
    return {};
  std::optional<Given> given = parseWhole<Given>(text);
  if (!given)
    return Status::error(std::string(variable) + " is '" + text + "', which is no " + what);
  number = *given;
  return {};
}

} // namespace colldsl
