/// Choosing: runs the passes that may make a schedule faster, one after the other, and keeps what
/// each made if the cost model says that it did. `--passes default` is this pass, with holes
/// tuned before.
///
/// example: a hot spot is rebalanced, and what remains is colored, unless coloring alone is faster;
/// a ring is left as it is
/// bound: the sum of the passes, and two evaluations of the schedule for each
/// source: times are those of the simulator
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct Choose {
  uint64_t mostOps = 1 << 20;

  void describe(PassOptions &options);
};

Result<DagOutcome> choosePasses(Schedule schedule, const Choose &options,
                                const DagContext &context);

} // namespace colldsl
