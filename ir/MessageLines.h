/// Messages of one direction, peer and tag form a line. Where the text form gives no
/// number, an end stands one behind the end before it in its line. For the readers of GOAL.
#pragma once

#include "ir/Dag.h"

#include <functional>

namespace colldsl {

/// Calls visit(i, previous) for every message op i of one rank, along each line in op
/// order; previous is the op before it in its line, or kNoOp.
void forEachInLine(std::span<const Op> ops, const std::function<void(OpId, OpId)> &visit);

/// The number that op i has if the text gives none.
inline uint32_t impliedCount(std::span<const Op> ops, OpId previous) {
  return previous == kNoOp ? 0 : countOf(ops[index(previous)].message) + 1;
}

} // namespace colldsl
