/// Sets of rounds as bits: those that a port has taken.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace colldsl {

using RoundSet = std::vector<uint64_t>;

/// The first round that is in neither set.
inline uint32_t firstFree(const RoundSet &a, const RoundSet &b) {
  auto word = [](const RoundSet &set, size_t i) { return i < set.size() ? set[i] : 0; };
  size_t i = 0;
  while ((word(a, i) | word(b, i)) == UINT64_MAX)
    ++i;
  return static_cast<uint32_t>(i * 64 + std::countr_one(word(a, i) | word(b, i)));
}

inline void insert(RoundSet &set, uint32_t round) {
  if (set.size() <= round / 64)
    set.resize(round / 64 + 1, 0);
  set[round / 64] |= uint64_t{1} << round % 64;
}

} // namespace colldsl
