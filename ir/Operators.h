/// The table of operators and of the element types that have them. Everything that takes an
/// operator asks this table: the compiler, the readers of schedules, the verifier and the functions
/// that combine.
///
/// Integers wrap around. Logical operators give 0 or 1. matmul multiplies 2x2 matrices over Z/256,
/// rows first, a byte per entry.
#pragma once

#include "ir/Result.h"
#include "ir/Vocabulary.h"

#include <type_traits>

namespace colldsl {

/// The element types of an operator.
enum class OperandTypes : uint8_t {
  All,
  Integers,
  FourBytes,
};

constexpr OperandTypes operandTypes(Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Prod:
  case Reduction::Min:
  case Reduction::Max:
  case Reduction::Land:
  case Reduction::Lor:
  case Reduction::Lxor:
    break;
  case Reduction::Band:
  case Reduction::Bor:
  case Reduction::Bxor:
    return OperandTypes::Integers;
  case Reduction::MatMul:
    return OperandTypes::FourBytes;
  }
  return OperandTypes::All;
}

template <typename T> constexpr bool isDefinedFor(OperandTypes types) {
  return types == OperandTypes::All || (types == OperandTypes::Integers && std::is_integral_v<T>) ||
         (types == OperandTypes::FourBytes && sizeof(T) == 4);
}

/// True if elements of this type have this operator.
constexpr bool isDefined(Reduction reduction, ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType)                                                      \
  case ElementType::Name:                                                                          \
    return isDefinedFor<CppType>(operandTypes(reduction));
#include "ir/Vocabulary.def"
  }
  return false;
}

/// An error that names both sides, if elements of this type do not have this operator.
Status checkDefined(Reduction reduction, ElementType type);

/// An error, if the two sides of a postcondition have elements of different types.
Status checkComparable(ElementType target, ElementType operand);

} // namespace colldsl
