/// What time costs on the machine that passes choose for, and how long a schedule takes on it: the
/// query of passes before they change one. The simulator answers it, so that what was
/// chosen and what is simulated afterwards are counted alike.
#pragma once

#include "simulator/Simulate.h"

namespace colldsl {

struct CostModel {
  MachineModel machine = MachineModel::flat();
  sim::NetworkOptions network;
  uint32_t receiveSlots = 0; ///< as in sim::SimulateOptions

  /// When the last rank finishes, in ns. `sizes` as in verify(). An error: the schedule cannot run
  /// to its end.
  Result<uint64_t> makespanNs(const Schedule &schedule, std::span<const Sizes> sizes,
                              const Topology &topology) const;
  /// The same of a collective, whose ranks are made one by one. All blocks must have lengths that
  /// are known before the call. The simulator does not check what concerns several ranks: that
  /// trees are trees, and that members of a group make the same calls.
  Result<uint64_t> makespanNs(const Program &program, const InstantiateRequest &request) const;

  /// The parameters between a rank and the one of `to` that is farthest from it.
  const LogGop &farthest(Rank from, std::span<const Rank> to, const Topology &topology) const;
};

} // namespace colldsl
