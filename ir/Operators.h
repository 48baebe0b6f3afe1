/// The table of operators and of the element types that have them. Everything that takes an
/// operator asks this table: the compiler, the readers of schedules, the verifier and the functions
/// that combine.
///
/// Integers wrap around. Logical operators give 0 or 1. Products of complex numbers are computed as
/// written, also where a part becomes infinite. matmul multiplies 2x2 matrices over Z/256, rows
/// first, a byte per entry.
#pragma once

#include "ir/Result.h"
#include "ir/SmallFloat.h"
#include "ir/Vocabulary.h"

#include <complex>

namespace colldsl {

/// The element types of an operator.
enum class OperandTypes : uint8_t {
  All,
  Ordered, ///< all but complex numbers
  Integers,
  FourBytes,
};

constexpr OperandTypes operandTypes(Reduction reduction) {
  switch (reduction) {
#define COLLDSL_REDUCTION(Name, spelling, commutative, operands, ...)                              \
  case Reduction::Name:                                                                            \
    return OperandTypes::operands;
#include "ir/Vocabulary.def"
  }
  return OperandTypes::All;
}

constexpr bool isDefinedFor(OperandTypes types, Arithmetic arithmetic, uint32_t bytes) {
  switch (types) {
  case OperandTypes::All:
    return true;
  case OperandTypes::Ordered:
    return arithmetic != Arithmetic::Complex;
  case OperandTypes::Integers:
    return arithmetic == Arithmetic::Signed || arithmetic == Arithmetic::Unsigned;
  case OperandTypes::FourBytes:
    return bytes == 4;
  }
  return false;
}

/// True if elements of this type have this operator.
constexpr bool isDefined(Reduction reduction, ElementType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, CppType, arithmetic, ...)                                     \
  case ElementType::Name:                                                                          \
    return isDefinedFor(operandTypes(reduction), Arithmetic::arithmetic, sizeof(CppType));
#include "ir/Vocabulary.def"
  }
  return false;
}

/// An error that names both sides, if elements of this type do not have this operator.
Status checkDefined(Reduction reduction, ElementType type);

/// An error, if the two sides of a postcondition have elements of different types.
Status checkComparable(ElementType target, ElementType operand);

} // namespace colldsl
