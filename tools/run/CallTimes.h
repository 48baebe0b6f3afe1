/// Statistics of the times of calls.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl::tools {

/// Over all calls, each with the time of its slowest rank. Nanoseconds.
struct Times {
  int64_t min = 0;
  int64_t median = 0;
  int64_t p90 = 0; ///< nine of ten calls took no longer
  int64_t max = 0;
};

/// `perRank`: nanoseconds per call, equally many on each rank, at least one.
Times summarize(const std::vector<std::vector<int64_t>> &perRank);

} // namespace colldsl::tools
