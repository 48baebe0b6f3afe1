/// What the check of programs needs to know of types. Internal to this folder.
#pragma once

#include "program/Program.h"

namespace colldsl {

/// What a slot or an expression holds, as far as memory safety is concerned.
enum class Holds : uint8_t {
  Nothing,
  Int,
  Reduction,
  IntList,
  String,
  Tree,
  Graph,
  Edge,
  Group,
  Slice,
  Range,
  Edges,
  Slices,
};

inline Holds holdsOf(ValueType type) {
  switch (type) {
  case ValueType::Int:
  case ValueType::Bool:
  case ValueType::Rank:
  case ValueType::Bytes:
  case ValueType::Time:
    return Holds::Int;
  case ValueType::Reduction:
    return Holds::Reduction;
  case ValueType::IntList:
    return Holds::IntList;
  case ValueType::String:
    return Holds::String;
  case ValueType::Tree:
    return Holds::Tree;
  case ValueType::Graph:
    return Holds::Graph;
  case ValueType::Edge:
    return Holds::Edge;
  case ValueType::Group:
    return Holds::Group;
  case ValueType::Slice:
    return Holds::Slice;
  case ValueType::Range:
    return Holds::Range;
  case ValueType::Edges:
    return Holds::Edges;
  case ValueType::Slices:
    return Holds::Slices;
  }
  __builtin_unreachable();
}

} // namespace colldsl
