/// RTR (ready to receive) tree: before a static message is sent, its receiver must be ready.
/// Instead of one notice from each receiver, the receivers of a sender combine theirs up a tree of
/// which the sender is the root: a receiver that is ready, and has the notices of those below it,
/// signals on. Sends wait for the signals that come to the root; the messages then need no notice
/// of their own. The gain shows on machines whose model has the cost of a notice (`notice`).
///
/// example: 40 receivers, degree 2: the sender waits for 2 signals instead of 40, after 5 levels
/// bound: log(receivers) levels of ceil(L / o) signals each; only receives that wait for nothing,
/// so that no rank waits longer than for another one to begin
/// source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood
/// communications", SC 2012, II.C.2
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct RtrTree {
  uint64_t degree = 0;

  void describe(PassOptions &options);
};

Result<DagOutcome> addRtrTrees(Schedule schedule, const RtrTree &options,
                               const DagContext &context);

} // namespace colldsl
