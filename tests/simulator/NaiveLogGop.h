/// The published rules of LogGOP, word by word, slow and plain: what the simulator is compared
/// with. One flat parameter set; GOAL's matching, wildcards included.
#pragma once

#include "ir/Schedule.h"
#include "topology/MachineModel.h"

#include <vector>

namespace colldsl::sim {

struct NaiveOutcome {
  bool isComplete = false; ///< all ops ran, and every message was received
  std::vector<uint64_t> finish;
  uint64_t events = 0;
};

NaiveOutcome simulateNaively(const Schedule &schedule, const LogGop &parameters);

} // namespace colldsl::sim
