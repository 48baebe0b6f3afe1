/// The reliability of times on a machine with other load: their spread, and drift of the machine
/// during the measurement. Unreliable points are measured again, then left out.
#pragma once

#include "ir/Result.h"
#include "select/RoundTimes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace colldsl::tools {

/// A pure function of the times, so that ranks with equal times agree.
struct Noise {
  double spread = 0;   ///< median absolute deviation over median, the greater of two calls
  double drift = 0;    ///< ratio of the medians of first and last third of the rounds, less 1
  double slowdown = 1; ///< of a barrier between the calls, over one on a quiet machine
};

/// Points with more noise are left out, unless the user allows it.
inline constexpr double kUsualNoise = 0.5;
/// Limit of the slowdown per noise limit: the times of a barrier vary with the load of messages
/// even on a quiet machine.
inline constexpr double kSlowdownPerNoise = 40;
/// The greatest number of measurements of a point.
inline constexpr uint32_t kMostTries = 3;

/// The noise of two calls that took turns. `barriers`: the times of barriers between them;
/// `quietNs`: the time of such a barrier on a quiet machine; 0: unknown.
Noise noiseOf(const RoundTimes &usual, const RoundTimes &other, const RoundTimes &barriers = {},
              double quietNs = 0);

bool isSteady(const Noise &noise, double limit);

/// "its times vary by 80 %"
std::string noiseWords(const Noise &noise, double limit);

/// "messages and copies take another time whenever they are measured (by 80 %): ..."
Status disagreement(double difference);

/// Measures until the outcome is steady, `kMostTries` times at most, and returns the last outcome.
/// `measure` returns a Result of a value with a `noise`; `goesOn` returns true if there is time for
/// another try, equally on all ranks.
template <typename Measure, typename GoesOn>
auto measureSteadily(double limit, Measure measure, GoesOn goesOn) -> decltype(measure()) {
  auto outcome = measure();
  for (uint32_t tries = 1; tries < kMostTries && outcome && !isSteady(outcome->noise, limit);
       ++tries) {
    Result<bool> isTime = goesOn();
    if (!isTime)
      return isTime.status();
    if (!*isTime)
      break;
    outcome = measure();
  }
  return outcome;
}

/// The difference of two times of one thing: their ratio less 1; 0 if clock and caches may account
/// for it.
double apart(double a, double b);

/// Measures until two measurements in a row agree, `kMostTries` + 1 times at most, and returns the
/// last one. `apartOf`: the difference of two measurements. An error: none agree.
template <typename Measure, typename ApartOf>
auto measureUntilAgreed(double limit, Measure measure, ApartOf apartOf) -> decltype(measure()) {
  auto last = measure();
  double least = 0;
  for (uint32_t tries = 0; tries < kMostTries && last; ++tries) {
    auto next = measure();
    double difference = next ? apartOf(*last, *next) : 0;
    if (!next || difference <= limit)
      return next;
    least = tries == 0 ? difference : std::min(least, difference);
    last = std::move(next);
  }
  return last ? disagreement(least) : last.status();
}

} // namespace colldsl::tools
