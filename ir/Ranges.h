/// Ascending numbers in few words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace colldsl {

/// 1, 2, 3, 4, 8 as "1..4,8".
std::string rangesWord(const std::vector<uint32_t> &numbers);

} // namespace colldsl
