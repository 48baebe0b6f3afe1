#include "executor/StraightLine.h"

#include <algorithm>

namespace colldsl {
namespace {

/// The longest message that is not static: a static one needs its receive to be posted; the line
/// only takes messages that are here.
uint64_t longestOther(const ImageOp &op, const Endpoint &endpoint) {
  if (!isMessage(op.kind) || op.transfer().protocol != Protocol::Static)
    return UINT64_MAX;
  const TransferCaps &caps = endpoint.transferCaps(op.peer);
  uint64_t from = std::min(caps.staticFrom, caps.sharedStaticFrom);
  if (op.transfer().announced)
    from = std::min(from, caps.announcedStaticFrom);
  return std::max<uint64_t>(from, 1) - 1;
}

bool mayBeOnLine(const Step &step) { return !step.variable && step.kind != Step::Kind::Calc; }

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

StraightLine::StraightLine(const RankView &view, const Steps &steps, const Endpoint &endpoint) {
  auto ops = static_cast<uint32_t>(view.ops.size());
  if (ops > kLongestLine)
    return;
  std::vector<uint32_t> ready, open;
  std::vector<int> rank;
  for (uint32_t op = 0; op < ops; ++op) {
    if (!mayBeOnLine(steps[OpId{op}]))
      return;
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
    ops_.push_back(op);
    const ImageOp &image = view.ops[op];
    mostBytes_.push_back(
        std::min(endpoint.caps().bufferedSendBytes, longestOther(image, endpoint)));
    if (steps[OpId{op}].kind == Step::Kind::Send)
      endOfSends_ = ops_.size();
    for (uint32_t i = 0; i < image.requireCount + image.irequireCount; ++i)
      if (uint32_t after = view.successors[image.successorBegin + i]; --open[after] == 0)
        ready.push_back(after);
  }
}

bool StraightLine::mayRun(const Steps &steps) const {
  for (size_t i = 0; i < ops_.size(); ++i)
    if (steps[OpId{ops_[i]}].payload.bytes > mostBytes_[i])
      return false;
  return !ops_.empty();
}

} // namespace colldsl
