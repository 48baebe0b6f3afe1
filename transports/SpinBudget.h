/// How a thread waits for events.
#pragma once

#include <chrono>
#include <cstdint>

namespace colldsl {

/// How long a waiting thread spins, and yields its core, before it sleeps.
struct SpinBudget {
  uint32_t polls = 1; ///< without an event, before it yields its core
  /// In a row, of one message and without moving anything else. At most `polls`.
  uint32_t pollsInRow = 1;
  /// It yields again and again, with a poll after each yield, for so long before it sleeps.
  std::chrono::nanoseconds yielding = std::chrono::microseconds(20);
  /// Then it polls again, for events that end no sleep.
  std::chrono::nanoseconds longestSleep = std::chrono::milliseconds(5);
};

/// The wake-ups of a rank that a thread knew of when it began to sleep.
using WakeupEpoch = uint32_t;

} // namespace colldsl
