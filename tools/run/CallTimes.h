/// Statistics of the times of calls.
#pragma once

#include <cstdint>
#include <string>
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

/// Three digits and a unit: "912 ns", "1.32 us", "45.0 ms".
std::string timeWord(int64_t ns);

} // namespace colldsl::tools
