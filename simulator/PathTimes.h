/// The critical path of a simulation by the parameters of the machine model: how much of the
/// makespan each of them accounts for. A makespan changes by so much as a parameter does, as long
/// as the path stays the same, so these are its derivatives by the parameters' logarithms.
#pragma once

#include "simulator/Simulate.h"

#include <compare>
#include <map>

namespace colldsl::sim {

/// A parameter of a machine model.
struct CostId {
  enum class What : uint8_t {
    L,
    o,
    g,
    G,
    O,
    CopyLatency,
    CopyPerByte,
    CombineLatency,
    CombinePerByte,
    NodeG,
    Other, ///< no parameter: noise, skew, the links of a network
  };
  What what = What::Other;
  uint8_t distance = 0; ///< of L, o, g, G and O
  uint8_t size = 0;     ///< 0: of the shortest messages; else the number of an entry of "longer"
  auto operator<=>(const CostId &) const = default;
};

/// "L of distance 7 from 16384 bytes on", for people.
std::string wordsOf(const CostId &id, const MachineModel &model);

/// ns by parameter; the sum is the time at which the slowest rank finishes. `outcome` has a
/// recording.
std::map<CostId, uint64_t> pathTimes(const Workload &workload, const SimulateOptions &options,
                                     const Outcome &outcome);

} // namespace colldsl::sim
