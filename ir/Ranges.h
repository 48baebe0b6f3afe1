/// Ranges of numbers in few words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace colldsl {

/// "8", "8..15"; without an end "8..", where `last` is the largest number that there is.
std::string rangeWord(uint64_t first, uint64_t last);

/// 1, 2, 3, 4, 8 as "1..4,8".
std::string rangesWord(const std::vector<uint32_t> &numbers);

} // namespace colldsl
