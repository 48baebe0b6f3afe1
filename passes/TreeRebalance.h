/// Tree rebalancing: takes messages from ranks that send many and makes ranks that send few pass
/// them on. A pattern in which one rank sends to all others becomes a tree.
///
/// `published` repeats: from the rank with the most messages, m, to the one with the fewest, s,
/// while m - s > t, it moves (m - s) / 2 - ceil(L / o) messages, or, where all carry the same
/// bytes, (m - s) / 2 - ceil(L / (o + (k - 1) G)). `optimal` gives each busy rank the best tree in
/// the LogGP model over those it sends to, one rank after the other, the least busy of them in the
/// middle of the tree, and keeps what makes the whole faster; it tries the published moves too.
/// With either rule the result is not slower than the input.
///
/// example: a star of 64 ranks with 8 bytes each becomes a scatter tree that ends when the best
/// scatter does
/// bound: `published`: O(log P) moves for a hot spot; `optimal`: `sources` evaluations of the whole
/// source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood
/// communications", SC 2012, II.B; the tree: see passes/BestTree.h
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct TreeRebalance {
  enum class Rule : uint8_t { Optimal, Published };
  Rule rule = Rule::Optimal;
  uint64_t t = 2;
  uint64_t sources = 16;

  void describe(PassOptions &options);
};

Result<DagOutcome> rebalance(Schedule schedule, const TreeRebalance &options,
                             const DagContext &context);

} // namespace colldsl
