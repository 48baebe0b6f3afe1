/// The costs of time on the machine that passes choose for, and the time that a schedule takes on
/// it: passes ask before they change one. The simulator answers, so that choices and later
/// simulations count alike.
#pragma once

#include "instantiate/Instantiate.h"
#include "simulator/Simulate.h"

namespace colldsl {

struct CostModel {
  MachineModel machine = MachineModel::flat();
  sim::NetworkOptions network;
  uint32_t receiveSlots = 0; ///< as in sim::SimulateOptions

  /// The time in ns at which the last rank finishes. `sizes` as in verify(). An error: the schedule
  /// cannot run to its end.
  Result<uint64_t> makespanNs(const Schedule &schedule, std::span<const Sizes> sizes,
                              const Topology &topology) const;
  /// Variant of makespanNs() of a schedule, for a collective whose ranks are made one by one. All
  /// blocks must have lengths that are known before the call. Checks that concern several ranks are
  /// left out: that trees are trees, and that members of a group make the same calls.
  Result<uint64_t> makespanNs(const Program &program, const InstantiateRequest &request) const;

  /// The parameters between a rank and the one of `to` that is farthest from it.
  const LogGop &farthest(Rank from, std::span<const Rank> to, const Topology &topology) const;
};

} // namespace colldsl
