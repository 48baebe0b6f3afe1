#include "ir/Operators.h"

#include "ir/Concat.h"

namespace colldsl {
namespace {

std::string_view words(OperandTypes types) {
  switch (types) {
  case OperandTypes::All:
    return "all types";
  case OperandTypes::Ordered:
    return "integers and real numbers";
  case OperandTypes::Integers:
    return "integers";
  case OperandTypes::FourBytes:
    return "types of 4 bytes";
  }
  return "";
}

} // namespace

Status checkDefined(Reduction reduction, ElementType type) {
  if (isDefined(reduction, type))
    return {};
  return Status::error(concat("there is no ", spelling(reduction), " of ", spelling(type), "; ",
                              spelling(reduction), " is for ", words(operandTypes(reduction))));
}

Status checkComparable(ElementType target, ElementType operand) {
  if (target == operand)
    return {};
  return Status::error(concat("a postcondition compares elements of ", spelling(target),
                              " with elements of ", spelling(operand)));
}

} // namespace colldsl
