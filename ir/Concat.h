/// Builds the text of a message from words and numbers.
#pragma once

#include <sstream>
#include <string>

namespace colldsl {

template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

} // namespace colldsl
