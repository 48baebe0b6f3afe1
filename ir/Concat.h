/// Builds the text of a message from words and numbers.
#pragma once

#include <sstream>
#include <string>

namespace colldsl {

/// Throws std::bad_alloc where memory is short: a stream by itself would end the text there.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream out;
  out.exceptions(std::ios_base::badbit);
  (out << ... << parts);
  return out.str();
}

} // namespace colldsl
