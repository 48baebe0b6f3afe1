/// A barrier as a schedule, to start calls together.
#pragma once

#include "ir/Schedule.h"

namespace colldsl::tools {

/// Dissemination: in round k everyone signals the rank 2^k further on.
/// Example: 3 ranks: 0 signals 1, then 2; all have started when both rounds are over.
/// Rounds: ceil(log2(ranks)). source: Hensgen, Finkel, Manber, Two algorithms for barrier
/// synchronization (1988).
Schedule barrierSchedule(uint32_t ranks);

} // namespace colldsl::tools
