/// Distance ring: a ring that passes each group of each level of the machine in one go, so that
/// long ways are few. It is ordered by cores, not by ranks: the same cores are neighbors, however
/// ranks are bound.
///
/// example: 48 cores on 8 sockets of 2 boards: 40 edges within sockets, 6 between sockets of a
/// board, 2 between boards
/// bound: P log P; there cannot be fewer edges at any distance or above, since a ring enters and
/// leaves a group
/// source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012,
/// algorithm 2, whose order as printed depends on the binding
#pragma once

#include "passes/Pass.h"
#include "passes/PhysicalOrder.h"

namespace colldsl {

struct DistanceRing {
  void describe(PassOptions &) {}
};

/// Rings of the standard library walk along a tree: this one is a chain.
Result<BindOutcome> bindDistanceRing(const BindContext &context, const DistanceRing &options);

} // namespace colldsl
