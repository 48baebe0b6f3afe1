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

/// Puts the number that a setting has into `number`. `place`: of the setting, for messages. An
/// error, which says that the value is no `what`: it is no number that Given holds.
template <typename Given, typename T>
Status parseNumber(const std::string &place, const std::string &text, T &number, const char *what) {
  std::optional<Given> given = parseWhole<Given>(text);
  if (!given)
    return Status::error(place + " is '" + text + "', which is no " + what);
  number = *given;
  return {};
}

/// Variant of parseNumber() for a variable; `number` stays if it is not set.
template <typename Given, typename T>
Status readNumber(const char *variable, T &number, const char *what) {
  const char *text = setting(variable);
  return text ? parseNumber<Given>(variable, text, number, what) : Status();
}

} // namespace colldsl
