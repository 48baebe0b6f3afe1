/// Static types of expressions.
#pragma once

#include "program/Program.h"

#include <optional>
#include <string>
#include <string_view>

namespace colldsl {

struct Type {
  ValueType value = ValueType::Int;
  uint8_t dims = 0;       ///< of a Slice: 1 or 2
  bool maybeNone = false; ///< of a number
  bool writable = false;  ///< of a Slice or Slices
  bool invalid = false;   ///< an error was reported; fits everywhere
  /// All elements of a Slice or Slices have this type; nothing: it is T, or they differ.
  std::optional<ElementType> element = std::nullopt;

  static Type of(ValueType v) { return {.value = v}; }
  static Type error() { return {.invalid = true}; }
  static Type slice(uint8_t dims, bool writable, std::optional<ElementType> element) {
    return {.value = ValueType::Slice, .dims = dims, .writable = writable, .element = element};
  }
  bool operator==(const Type &) const = default;
  bool is(ValueType v) const { return !invalid && value == v; }
};

constexpr bool isNumber(ValueType v) {
  return v == ValueType::Int || v == ValueType::Rank || v == ValueType::Bytes ||
         v == ValueType::Time;
}

/// "a rank", "a list of ints", ...: with its article, for messages.
std::string_view describe(ValueType type);
std::string describe(const Type &type);

/// True if a value of type `from` may stand where `to` is expected: numbers without a unit become
/// ranks and bytes, ranks become ints.
bool fits(const Type &from, ValueType to);

} // namespace colldsl
