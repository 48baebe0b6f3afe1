/// How far times can be trusted on a machine that has other work, too: how much they vary, and
/// whether the machine changed while they were taken. What cannot be trusted is measured again,
/// then left out.
#pragma once

#include "ir/Result.h"
#include "runtime/RoundTimes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace colldsl::tools {

/// Pure, so that all ranks that have the same times come to the same.
struct Noise {
  double spread = 0;   ///< median absolute deviation by median, the greater one of two calls
  double drift = 0;    ///< how far the last third of the rounds is from the first: ratio less 1
  double slowdown = 1; ///< of a barrier between the calls, over one on a quiet machine
};

/// More is left out, unless the user allows it.
inline constexpr double kUsualNoise = 0.5;
/// A quiet machine's barrier varies by its load of messages alone.
inline constexpr double kSlowdownPerNoise = 40;
/// So often a point is measured in all.
inline constexpr uint32_t kMostTries = 3;

/// Of two calls that took turns. `barriers`: between them; `quietNs`: of such a one on a quiet
/// machine; 0: not known.
Noise noiseOf(const RoundTimes &usual, const RoundTimes &other, const RoundTimes &barriers = {},
              double quietNs = 0);

bool isSteady(const Noise &noise, double limit);

/// "its times vary by 80 %"
std::string noiseWords(const Noise &noise, double limit);

/// "messages and copies take another time whenever they are measured (by 80 %): ..."
Status disagreement(double difference);

/// Measures until it is steady, `kMostTries` times at most: the last outcome, whose noise tells
/// whether it is. `measure`: a Result of something with a noise; `goesOn`: whether there is time
/// for another try, alike on all ranks.
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

/// How far apart two times of the same are: their ratio less 1. By less than the clock and the
/// caches account for they do not differ.
double apart(double a, double b);

/// Measures until two measurements in a row agree, `kMostTries` and one more at most; the last one.
/// `apartOf`: how far apart two are. An error: none do.
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
