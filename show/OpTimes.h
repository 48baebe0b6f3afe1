/// When the ops of a schedule ran, and what each waited for: simulated, or measured.
#pragma once

#include "show/OpTable.h"
#include "simulator/Simulate.h"

namespace colldsl::show {

/// Ops are numbered through: those of rank 0 come first. A receive takes the time of its message.
struct Times {
  std::vector<uint64_t> begin, end; ///< ns
  std::vector<uint64_t>
      interface;               ///< how long the sender's interface sends the message; 0: unknown
  std::vector<uint32_t> after; ///< what the op waited for last; kNoIndex: nothing
  std::vector<uint8_t> cause;  ///< sim::Cause
  std::vector<uint32_t> path;  ///< the critical path, from the start to the end
  uint64_t completion = 0;     ///< of the last rank

  explicit Times(uint32_t numOps = 0)
      : begin(numOps), end(numOps), interface(numOps), after(numOps, kNoIndex), cause(numOps) {}
};

Times simulatedTimes(const OpTable &ops, const sim::Workload &workload,
                     const sim::Outcome &outcome);

/// `begin` and `end` of all ops, from the same clock on all ranks. What an op waited for is the
/// last of what it requires and, of a receive, the start of its send.
Times measuredTimes(const OpTable &ops, std::vector<uint64_t> begin, std::vector<uint64_t> end);

/// Begin, length and cause of each op, the ops of each rank by their begin, and the path.
void addTimes(const Times &times, const OpTable &ops, const std::string &prefix, Columns &columns);

} // namespace colldsl::show
