#include "tools/run/CallTimes.h"

#include <algorithm>
#include <cstdio>

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

std::string timeWord(int64_t ns) {
  constexpr const char *kUnits[] = {"ns", "us", "ms", "s"};
  auto value = static_cast<double>(ns);
  size_t unit = 0;
  for (; unit < 3 && value >= 999.5; ++unit)
    value /= 1000;
  int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, kUnits[unit]);
  return text;
}

} // namespace colldsl::tools
