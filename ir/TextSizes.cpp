#include "ir/TextSizes.h"

#include <algorithm>

namespace colldsl {

std::optional<uint64_t> statedBytes(const Dag &dag, const Op &op, uint64_t n) {
  if (op.kind == OpKind::Signal || op.kind == OpKind::Wait || op.kind == OpKind::Calc)
    return std::nullopt;
  if (op.sourceCount == 0 && op.targetCount == 0)
    return op.amount;
  auto slices = op.kind == OpKind::Send ? dag.sources(op) : dag.targets(op);
  bool isKnown = std::all_of(slices.begin(), slices.end(), [&](const Slice &s) {
    return s.block == kNoBlock && s.denominator != 0 && index(s.buffer) < dag.buffers.size() &&
           dag.bufferOf(s).denominator != 0;
  });
  if (!isKnown)
    return std::nullopt;
  return payloadBytes(dag, op, Sizes{n, {}});
}

} // namespace colldsl
