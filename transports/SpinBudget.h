/// The budget of a thread that waits for events.
#pragma once

#include <chrono>
#include <cstdint>

namespace colldsl {

/// The time that a waiting thread spins, and yields its core, before it sleeps.
struct SpinBudget {
  uint32_t polls = 1; ///< without an event, before the thread yields its core
  /// Polls in a row of one message, without moving anything else. At most `polls`.
  uint32_t pollsInRow = 1;
  /// The time for which the thread yields, with a poll after each yield, before it sleeps.
  std::chrono::nanoseconds yielding = std::chrono::microseconds(20);
  /// The longest sleep. Then the thread polls again, because some events end no sleep.
  std::chrono::nanoseconds longestSleep = std::chrono::milliseconds(5);
};

/// The number of a rank's wake-ups when a thread began to sleep.
using WakeupEpoch = uint32_t;

} // namespace colldsl
