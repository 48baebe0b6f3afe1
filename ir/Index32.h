/// Positions and counts of records are 32 bits wide; sizes of containers are wider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace colldsl {

[[noreturn]] inline void failIndex32() {
  throw std::length_error("a list has more than 4294967295 records, which 32 bits cannot count");
}

/// Narrows a number. Throws std::length_error if 32 bits do not hold it: users meet the limits on
/// ops, dependencies and bytes of text before that.
constexpr uint32_t index32(size_t number) {
  if (number > UINT32_MAX) [[unlikely]]
    failIndex32();
  return static_cast<uint32_t>(number);
}

} // namespace colldsl
