/// The reasons why the slowest rank took so long: the event that it waited for last, the event that
/// this one waited for, and so on back to the start.
#pragma once

#include "simulator/Recording.h"
#include "simulator/Workload.h"

namespace colldsl::sim {

struct PathStep {
  uint32_t rank = 0; ///< the rank; of a message: the receiver
  OpId op = kNoOp;   ///< of that rank, of a message its receive if that is known
  bool isMessage = false;
  uint32_t peer = 0; ///< of a message: the sender
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t bytes = 0;         ///< of a send, a receive or a message
  Cause cause = Cause::Start; ///< why it did not begin earlier
  Op what;                    ///< the op; of a message, its send
};

/// From the start to the end of `rank`.
Result<std::vector<PathStep>> criticalPath(const Workload &workload, const Recording &recording,
                                           uint32_t rank);

/// "start", "dependency", "processor", "gap", "wire".
std::string_view spelling(Cause cause);

} // namespace colldsl::sim
