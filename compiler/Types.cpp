#include "compiler/Types.h"

#include "llvm/Support/ErrorHandling.h"

namespace colldsl {

std::string_view describe(ValueType type) {
  switch (type) {
#define COLLDSL_TYPE(Name, spelling, description)                                                  \
  case ValueType::Name:                                                                            \
    return description;
#include "program/Types.def"
  }
  llvm_unreachable("all types are listed");
}

std::string describe(const Type &type) {
  std::string text(describe(type.value));
  if (type.value == ValueType::Slice && type.dims == 2)
    text += " of blocks";
  return text;
}

bool fits(const Type &from, ValueType to) {
  if (from.invalid || from.value == to)
    return true;
  if (to == ValueType::Int || to == ValueType::Rank)
    return from.value == ValueType::Int || from.value == ValueType::Rank;
  return to == ValueType::Bytes && from.value == ValueType::Int;
}

} // namespace colldsl
