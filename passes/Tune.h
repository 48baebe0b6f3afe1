/// Tuning: binds all tuning parameters by the simulator: leaders, each parameter that has
/// candidates (segments, numbers, trees), and each tree also by the passes for trees. One after the
/// other, in this order: leaders by `core`, `nic`, `load`; then, by parameter, its candidates,
/// `optimal-tree` in both forms, `distance-tree` in both shapes, `distance-ring`. The collective is
/// simulated with each. A value that is faster stays until a still faster one comes; one that is as
/// fast as the default does not. A second sweep follows if the first one helped. Where the default
/// has too many ops, or a value would have, it is not simulated.
///
/// example: bcast_tree of 1 MiB on 16 ranks: t = chain(root), segment = 16KiB
/// bound: simulations: one, and twice the number of candidates, 5 for each tree and 3 for leaders;
/// intervals count by powers of two
/// source: the candidates are those of the program
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct Tune {
  uint64_t mostRanks = 512;
  uint64_t mostOps = InstantiateLimits().maxTotalOps; ///< of one simulation

  void describe(PassOptions &options);
};

Result<BindOutcome> tuneParameters(const BindContext &context, const Tune &options);

} // namespace colldsl
