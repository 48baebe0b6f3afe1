/// Choosing: runs the passes that may make a schedule faster, in this order, and keeps what each
/// made if the simulator finds it faster, or as fast with fewer ops: `fuse`; `combine-messages`, by
/// pair and, where there are several nodes, by node; the better of `edge-coloring` alone and after
/// `tree-rebalance`; the better of `direction` alone and after `protocol`, unless messages are
/// static already. Where buffers are the same in every call (`static`, or a schedule whose messages
/// say so), `canary-rte` and `rtr-tree` follow, the static ways once with short messages eager and
/// once without. Choices that only a caller can make are left out: grids to combine on, skew, ports
/// of network interfaces. Ways to travel that make no difference in simulated time, such as
/// `streamed`, come with other gains or by name. `--passes default` is this pass, after `tune`.
///
/// example: a hot spot is rebalanced, and what remains is colored, unless coloring alone is faster;
/// a ring is left as it is
/// bound: at most 15 passes, each followed by one simulation
/// source: times are those of the simulator
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct Choose {
  uint64_t mostOps = 1 << 20;
  bool isStatic = false;

  void describe(PassOptions &options);
};

Result<DagOutcome> choosePasses(Schedule schedule, const Choose &options,
                                const DagContext &context);

} // namespace colldsl
