/// Direction: chooses which end of a message copies it, where one end can do so alone. Where one
/// rank sends to many, they read; where many send to one, they write. So the copies of a busy rank
/// are made by ranks that have less to do, at the same time.
///
/// example: a scatter within a node is read by all receivers, a gather is written by all senders;
/// the root copies nothing
/// bound: one step per message and dependency
/// source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012, chapter
/// 3
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct Direction {
  uint64_t least = 16 << 10;

  void describe(PassOptions &options);
};

Result<DagOutcome> chooseMovers(Schedule schedule, const Direction &options,
                                const DagContext &context);

} // namespace colldsl
