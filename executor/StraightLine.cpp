#include "executor/StraightLine.h"

#include <algorithm>

namespace colldsl {
namespace {

/// True for a static message, which needs its receive to be posted; the line only takes messages
/// that are here.
bool isStatic(const Step &step, const ImageOp &op, const Endpoint &endpoint) {
  if (!isMessage(op.kind) || op.transfer().protocol != Protocol::Static)
    return false;
  const TransferCaps &caps = endpoint.transferCaps(op.peer);
  uint64_t from = std::min(caps.staticFrom, caps.sharedStaticFrom);
  if (op.transfer().announced)
    from = std::min(from, caps.announcedStaticFrom);
  return from <= step.payload.bytes;
}

bool isOnLine(const Step &step, const ImageOp &op, const Endpoint &endpoint) {
  return !step.variable && !isStatic(step, op, endpoint) && step.kind != Step::Kind::Calc &&
         step.payload.bytes <= endpoint.caps().bufferedSendBytes;
}

/// The place of a step in the order: lower ranks come first.
int rankOf(const Step &step, const ImageOp &op, const Endpoint &endpoint) {
  switch (step.kind) {
  case Step::Kind::Send:
    return endpoint.startsFirst(op.peer) ? 0 : 1;
  case Step::Kind::Recv:
    return 3;
  default:
    return 2;
  }
}

} // namespace

std::vector<uint32_t> straightLine(const RankView &view, const Steps &steps,
                                   const Endpoint &endpoint) {
  size_t ops = view.ops.size();
  if (ops > kLongestLine)
    return {};
  std::vector<uint32_t> line, ready, open;
  std::vector<int> rank;
  for (uint32_t op = 0; op < ops; ++op) {
    if (!isOnLine(steps[OpId{op}], view.ops[op], endpoint))
      return {};
    rank.push_back(rankOf(steps[OpId{op}], view.ops[op], endpoint));
    open.push_back(view.ops[op].depCount);
    if (open[op] == 0)
      ready.push_back(op);
  }
  while (!ready.empty()) {
    auto next = std::min_element(ready.begin(), ready.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(rank[a], a) < std::pair(rank[b], b);
    });
    uint32_t op = *next;
    ready.erase(next);
    line.push_back(op);
    const ImageOp &image = view.ops[op];
    for (uint32_t i = 0; i < image.requireCount + image.irequireCount; ++i)
      if (uint32_t after = view.successors[image.successorBegin + i]; --open[after] == 0)
        ready.push_back(after);
  }
  return line;
}

} // namespace colldsl
