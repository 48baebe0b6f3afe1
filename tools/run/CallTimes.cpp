#include "tools/run/CallTimes.h"

#include <algorithm>

namespace colldsl::tools {

Times summarize(const std::vector<std::vector<int64_t>> &perRank) {
  std::vector<int64_t> slowest = perRank.front();
  for (const std::vector<int64_t> &ns : perRank)
    for (size_t i = 0; i < slowest.size(); ++i)
      slowest[i] = std::max(slowest[i], ns[i]);
  std::sort(slowest.begin(), slowest.end());
  // The smallest time that at least this share of the calls does not exceed.
  auto percentile = [&](size_t percent) { return slowest[(slowest.size() * percent - 1) / 100]; };
  return {slowest.front(), percentile(50), percentile(90), slowest.back()};
}

} // namespace colldsl::tools
