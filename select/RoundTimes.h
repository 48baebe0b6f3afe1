/// Times of calls that took turns, and the confidence in which of two is faster.
#pragma once

#include <vector>

namespace colldsl {

/// Nanoseconds per round, of all ranks together as the caller combines them.
using RoundTimes = std::vector<double>;

/// A smaller gain is not worth a decision.
inline constexpr double kLeastGain = 1.01;

double medianOf(RoundTimes times);

/// The median absolute deviation from the median, as a part of the median. Half of the times may be
/// anything: one that was interrupted does not count.
double spreadOf(RoundTimes times);

/// The ratio of the times of `slow` to those of `fast` in the same rounds: the median, and its 95 %
/// confidence interval, by order statistics. For no or few rounds the interval is from 0 to
/// infinity.
struct Ratio {
  double median = 1, least = 0, most = 1e9;
};
Ratio ratioOf(const RoundTimes &slow, const RoundTimes &fast);

} // namespace colldsl
