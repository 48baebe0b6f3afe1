/// Edge coloring: gives each message a round in which no send port and no receive port is used
/// twice, and starts each rank's sends in the order of their rounds. Messages that cannot be on
/// their way together, because one waits for the other directly or through others, are colored
/// apart. A send then `irequires` the one before it: it waits for the start of that send alone, so
/// the order serialises nothing that the network interface does not serialise anyway.
///
/// example: in a linear alltoall in the order of ranks all ranks send to rank 0 first, then to rank
/// 1; colored, each round is a permutation
/// bound: `optimal`: as many rounds as the busiest port has messages (D. Koenig, 1916), in
/// near-linear time; `welsh-powell`: less than twice as many
/// source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood
/// communications", SC 2012
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct EdgeColoring {
  enum class Algorithm : uint8_t { Optimal, WelshPowell };
  Algorithm algorithm = Algorithm::Optimal;
  bool always = false;

  void describe(PassOptions &options);
};

Result<DagOutcome> colorSends(Schedule schedule, const EdgeColoring &options,
                              const DagContext &context);

} // namespace colldsl
