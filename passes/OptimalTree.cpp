#include "passes/OptimalTree.h"

#include "passes/BestTree.h"
#include "passes/PhysicalOrder.h"
#include "passes/TuningParameters.h"

#include <algorithm>

namespace colldsl {

constexpr uint64_t kMaxBytes = 1 << 30; ///< keeps the times of trees within their integers

void OptimalTree::describe(PassOptions &options) {
  options.choice("form", "postal|exact", "which tree (default: postal)", form, {"postal", "exact"});
  options.number("bytes", "N", "of a message (default: all, or one segment of 64 KiB)", bytes, 0,
                 kMaxBytes);
}

namespace {

GivenTree treeOf(const BestTree &best, uint32_t ranks, Rank root) {
  auto rankAt = [&](uint32_t place) { return Rank{(index(root) + place) % ranks}; };
  GivenTree tree(ranks);
  tree.root = root;
  for (const BestTree::Edge &edge : best.edges())
    tree.connect(rankAt(edge.parent), rankAt(edge.child));
  return tree;
}

/// The postal model: a message takes one step to send and `latency` steps to arrive.
BestTree postalTree(uint64_t latency, uint32_t ranks) {
  LogGop steps;
  steps.L = latency;
  steps.o = 0;
  steps.g = 1;
  steps.G = steps.O = PerByte();
  return BestTree(steps, TreeUse::Broadcast, ranks, 1);
}

TreeBinding makeTree(const BindContext &context, const OptimalTree &options, Rank root) {
  constexpr uint64_t kSegment = 64 << 10, kMaxLatency = 16;
  uint32_t ranks = context.request.ranks;
  uint64_t bytes = options.bytes ? options.bytes : std::min(bytesOf(context), kSegment);
  const LogGop &p = farthestFrom(root, context);
  if (options.form == OptimalTree::Form::Exact) {
    BestTree best(p, TreeUse::Broadcast, ranks, bytes);
    return {treeOf(best, ranks, root),
            "the last rank knows after " + std::to_string(best.timeNs(ranks)) + " ns"};
  }
  uint64_t send = std::max<uint64_t>(p.nextSendNs(bytes), 1);
  uint64_t latency = std::clamp<uint64_t>((p.endToEndNs(bytes) + send / 2) / send, 1, kMaxLatency);
  return {treeOf(postalTree(latency, ranks), ranks, root), "latency " + std::to_string(latency)};
}

} // namespace

Result<BindOutcome> bindOptimalTree(const BindContext &context, const OptimalTree &options) {
  return bindTrees(context, [&](Rank root) { return makeTree(context, options, root); });
}

} // namespace colldsl
