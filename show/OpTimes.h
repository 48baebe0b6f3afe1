/// Begin and end of each op of a schedule, simulated or measured, and its last dependency.
#pragma once

#include "show/OpTable.h"
#include "simulator/Simulate.h"

namespace colldsl::show {

/// Ops are numbered consecutively, rank 0's first. A receive takes the time of its message.
struct Times {
  std::vector<uint64_t> begin, end; ///< ns
  std::vector<uint64_t>
      interface; ///< ns for which the sender's interface sends the message; 0: unknown
  std::vector<uint32_t> after; ///< the op that it waited for last; kNoIndex: none
  std::vector<uint8_t> cause;  ///< sim::Cause
  std::vector<uint32_t> path;  ///< the critical path, from the start to the end
  uint64_t completion = 0;     ///< of the last rank

  explicit Times(uint32_t numOps = 0)
      : begin(numOps), end(numOps), interface(numOps), after(numOps, kNoIndex), cause(numOps) {}
};

Times simulatedTimes(const OpTable &ops, const sim::Workload &workload,
                     const sim::Outcome &outcome);

/// `begin` and `end` of all ops, from one clock on all ranks. An op waited for the last of the ops
/// that it requires; a receive waited for the start of its send, too.
Times measuredTimes(const OpTable &ops, std::vector<uint64_t> begin, std::vector<uint64_t> end);

/// Adds begin, length and cause of each op, the ops of each rank by their begin, and the path.
void addTimes(const Times &times, const OpTable &ops, const std::string &prefix, Columns &columns);

} // namespace colldsl::show
