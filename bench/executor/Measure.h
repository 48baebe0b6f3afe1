/// Times and medians for the programs here.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace colldsl::bench {

using Clock = std::chrono::steady_clock;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Nanoseconds per call of `run`, which is called so often.
template <typename Run> double nsPerCall(uint32_t calls, Run run) {
  Clock::time_point begin = Clock::now();
  for (uint32_t i = 0; i < calls; ++i)
    run();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
}

} // namespace colldsl::bench
