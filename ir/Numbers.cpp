#include "ir/Numbers.h"

#include <algorithm>

namespace colldsl {

std::string_view takeWord(std::string_view &line) {
  size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return line = {};
  size_t end = line.find_first_of(" \t\r", begin);
  std::string_view word = line.substr(begin, end - begin);
  line = end == std::string_view::npos ? std::string_view{} : line.substr(end);
  return word;
}

NumberAndUnit splitUnit(std::string_view text) {
  size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return {text.substr(0, digits), text.substr(digits)};
}

Amount parseAmount(NumberAndUnit text, std::span<const UnitFactor> units) {
  std::optional<uint64_t> number = parseWhole<uint64_t>(text.digits);
  if (!number)
    return {0, AmountError::NoNumber};
  uint64_t factor = text.unit.empty() ? 1 : 0, value = 0;
  for (const UnitFactor &known : units)
    if (known.unit == text.unit)
      factor = known.factor;
  if (factor == 0)
    return {0, AmountError::NoUnit};
  if (__builtin_mul_overflow(*number, factor, &value))
    return {0, AmountError::TooLarge};
  return {value, AmountError::None};
}

} // namespace colldsl
