/// Times and medians for the programs here.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <vector>

namespace colldsl::bench {

using Clock = std::chrono::steady_clock;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Nanoseconds per call of `run`, over so many calls.
template <typename Run> double nsPerCall(uint32_t calls, Run run) {
  Clock::time_point begin = Clock::now();
  for (uint32_t i = 0; i < calls; ++i)
    run();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
}

/// Processor time of this process, or of the thread that calls: other load of the machine does not
/// count.
inline double processorNs(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Variant of nsPerCall() in processor time.
template <typename Run> double processorNsPerCall(uint32_t calls, Run run) {
  double begin = processorNs();
  for (uint32_t i = 0; i < calls; ++i)
    run();
  return (processorNs() - begin) / calls;
}

} // namespace colldsl::bench
