#include "executor/Wavefront.h"

namespace colldsl {

Wavefront::Wavefront(std::span<const ImageOp> ops, std::span<const uint32_t> successors)
    : successors_(successors), ready_(ops.size()), finished_(ops.size()) {
  vertices_.reserve(ops.size());
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const ImageOp &op = ops[i];
    vertices_.push_back({successors.data() + op.successorBegin, op.requireCount, op.irequireCount,
                         op.depCount, op.depCount});
    if (op.depCount == 0)
      ready_[roots_++] = i;
  }
}

uint32_t *Wavefront::ownSuccessorsOf(const Vertex &v) {
  if (ownSuccessors_.empty()) {
    ownSuccessors_.assign(successors_.begin(), successors_.end());
    for (Vertex &vertex : vertices_)
      vertex.successors = ownSuccessors_.data() + (vertex.successors - successors_.data());
  }
  return ownSuccessors_.data() + (v.successors - ownSuccessors_.data());
}

} // namespace colldsl
