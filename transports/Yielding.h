/// Yields the core while one waits, as long as that is better than a sleep: the process that gets
/// it gives it back in microseconds, unless it calculates.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace colldsl {

/// Of one wait.
class Yielding {
public:
  /// For how long, in one wait.
  explicit Yielding(std::chrono::nanoseconds longest) : longest_(longest) {}

  /// Something moved: the wait begins anew.
  void restart() { count_ = 0; }

  /// Whether to yield() next; else a sleep is better.
  bool isWorthIt();

  void yield();

  /// Since something moved.
  uint32_t count() const { return count_; }

private:
  using Clock = std::chrono::steady_clock;

  std::chrono::nanoseconds longest_;
  Clock::time_point begin_;
  uint32_t count_ = 0;

  /// So many rests of this process are sleeps, because another process kept the core.
  static inline std::atomic<uint32_t> avoid_{0};
};

} // namespace colldsl
