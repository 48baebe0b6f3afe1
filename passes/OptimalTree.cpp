#include "passes/OptimalTree.h"

#include "passes/BestTree.h"
#include "passes/Holes.h"
#include "passes/PhysicalOrder.h"

#include <algorithm>

namespace colldsl {

void OptimalTree::describe(PassOptions &options) {
  options.choice("form", "postal|exact", "which tree (default: postal)", form, {"postal", "exact"});
  options.number("bytes", "N", "of a message (default: all, or one segment of 64 KiB)", bytes);
}

namespace {

std::string exactTree(const BestTree &best, uint32_t ranks, Rank root) {
  auto rankAt = [&](uint32_t place) { return Rank{(index(root) + place) % ranks}; };
  RankTree tree(ranks);
  tree.root = root;
  for (const BestTree::Edge &edge : best.edges())
    tree.connect(rankAt(edge.parent), rankAt(edge.child));
  return expressionOf(tree);
}

} // namespace

Result<HoleOutcome> fillOptimalTree(const HoleContext &context, const OptimalTree &options) {
  constexpr uint64_t kSegment = 64 << 10, kMostLatency = 16;
  Result<Rank> root = rootOf(context);
  if (!root)
    return root.status();
  uint64_t bytes = options.bytes ? options.bytes : std::min(bytesOf(context), kSegment);
  const LogGop &p = farthestFrom(*root, context);
  if (options.form == OptimalTree::Form::Exact) {
    BestTree best(p, TreeUse::Broadcast, context.request.ranks, bytes);
    return fillTrees(context, exactTree(best, context.request.ranks, *root),
                     "the last rank knows after " +
                         std::to_string(best.timeNs(context.request.ranks)) + " ns");
  }
  uint64_t send = std::max<uint64_t>(p.nextSendNs(bytes), 1);
  uint64_t latency = std::clamp<uint64_t>((p.endToEndNs(bytes) + send / 2) / send, 1, kMostLatency);
  return fillTrees(context,
                   "optimal(" + std::to_string(index(*root)) + ", " + std::to_string(latency) + ")",
                   "latency " + std::to_string(latency));
}

} // namespace colldsl
