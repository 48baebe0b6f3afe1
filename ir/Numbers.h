/// Whole numbers, sizes and times, as people, files and the environment give them.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace colldsl {

/// Takes the next word of a line; empty at its end.
std::string_view takeWord(std::string_view &line);

/// All of the text is one decimal number that T holds; a minus comes before those of signed types.
template <std::integral T> std::optional<T> parseWhole(std::string_view text) {
  T number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole ? std::optional(number) : std::nullopt;
}

struct UnitFactor {
  std::string_view unit;
  uint64_t factor;
};
inline constexpr UnitFactor kByteUnits[] = {
    {"B", 1}, {"KiB", uint64_t{1} << 10}, {"MiB", uint64_t{1} << 20}, {"GiB", uint64_t{1} << 30}};
inline constexpr UnitFactor kTimeUnits[] = {
    {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

/// "64KiB" is 64 and KiB. Either may be empty.
struct NumberAndUnit {
  std::string_view digits, unit;
};
NumberAndUnit splitUnit(std::string_view text);

enum class AmountError : uint8_t {
  None,
  NoNumber, ///< no digits, or more than 64 bits hold
  NoUnit,   ///< none of these units
  TooLarge  ///< 64 bits hold the number, but not times the unit
};
struct Amount {
  uint64_t value = 0;
  AmountError error = AmountError::None;
};
/// "64KiB", or a number without a unit.
Amount parseAmount(NumberAndUnit text, std::span<const UnitFactor> units);

} // namespace colldsl
