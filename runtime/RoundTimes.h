/// Times of calls that took turns, and how sure it is which of two is faster.
#pragma once

#include <vector>

namespace colldsl {

/// Nanoseconds per round, of all ranks together as the caller combines them.
using RoundTimes = std::vector<double>;

/// Faster by less is not worth a decision.
inline constexpr double kLeastGain = 1.01;

double medianOf(RoundTimes times);

/// The median absolute deviation from the median, as a part of the median. Half of the times may be
/// anything: one that was interrupted does not count.
double spreadOf(RoundTimes times);

/// How many times longer the calls of `slow` took than those of `fast` in the same rounds: the
/// median, and the interval that holds it with 95 %, by order statistics. Of no or few rounds the
/// interval is from 0 to infinity.
struct Ratio {
  double median = 1, least = 0, most = 1e9;
};
Ratio ratioOf(const RoundTimes &slow, const RoundTimes &fast);

} // namespace colldsl
