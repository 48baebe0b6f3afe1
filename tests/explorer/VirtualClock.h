/// The steady clock of a program that links this: that of the system, or, while a VirtualClock
/// exists, one that stands still until it is set. So time-outs are steps as all others.
#pragma once

#include <chrono>

namespace colldsl::test {

/// At most one at a time; one thread.
class VirtualClock {
public:
  VirtualClock();
  ~VirtualClock();
  VirtualClock(const VirtualClock &) = delete;

  void advance(std::chrono::nanoseconds by);
  std::chrono::nanoseconds passed() const;
  /// From now on each look at the clock takes an hour: every wait ends.
  void run();
};

} // namespace colldsl::test
