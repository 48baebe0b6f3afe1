/// Yields the core of a waiting thread, as long as that is better than a sleep: the process that
/// gets the core gives it back in microseconds, unless it computes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace colldsl {

/// The yields of one wait.
class Yielding {
public:
  /// `longest`: the time for which a wait yields.
  explicit Yielding(std::chrono::nanoseconds longest) : longest_(longest) {}

  /// Begins the wait anew, because something moved.
  void restart() { count_ = 0; }

  /// True if the thread does best to yield() next; else a sleep is better.
  bool isWorthIt();

  void yield();

  /// The number of yields since something moved.
  uint32_t count() const { return count_; }

private:
  using Clock = std::chrono::steady_clock;

  std::chrono::nanoseconds longest_;
  Clock::time_point begin_;
  uint32_t count_ = 0;

  /// The number of coming rests of this process that are sleeps, because another process kept the
  /// core. Relaxed: a guess, by which nothing else is read; two threads may use up one rest
  /// together.
  static inline std::atomic<uint32_t> avoid_{0};
};

} // namespace colldsl
