#include "compiler/Types.h"

#include "llvm/Support/ErrorHandling.h"

namespace colldsl {

std::string_view describe(ValueType type) {
  switch (type) {
  case ValueType::Int:
    return "an int";
  case ValueType::Bool:
    return "a bool";
  case ValueType::Rank:
    return "a rank";
  case ValueType::Bytes:
    return "a number of bytes";
  case ValueType::Time:
    return "a time";
  case ValueType::Reduction:
    return "a reduction";
  case ValueType::IntList:
    return "a list of ints";
  case ValueType::String:
    return "a string";
  case ValueType::Tree:
    return "a tree";
  case ValueType::Graph:
    return "a graph";
  case ValueType::Edge:
    return "an edge";
  case ValueType::Group:
    return "a group";
  case ValueType::Slice:
    return "a slice";
  case ValueType::Range:
    return "a range";
  case ValueType::Edges:
    return "a list of edges";
  case ValueType::Slices:
    return "a list of slices";
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
