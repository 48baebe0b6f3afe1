#include "ir/Ranges.h"

namespace colldsl {

std::string rangeWord(uint64_t first, uint64_t last) {
  if (first == last)
    return std::to_string(first);
  return std::to_string(first) + ".." + (last == UINT64_MAX ? "" : std::to_string(last));
}

std::string rangesWord(const std::vector<uint32_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i)
      text += ".." + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

} // namespace colldsl
