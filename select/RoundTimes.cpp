#include "select/RoundTimes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace colldsl {
namespace {

constexpr size_t kLeastRounds = 6;  // the least that give an interval
constexpr double kHalfWidth = 0.98; // of the ranks of order statistics, by the square root: 95 %

} // namespace

double medianOf(RoundTimes times) {
  if (times.empty())
    return 0;
  auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double spreadOf(RoundTimes times) {
  double median = medianOf(times);
  for (double &time : times)
    time = std::abs(time - median);
  return medianOf(std::move(times)) / std::max(median, 1.0);
}

Ratio ratioOf(const RoundTimes &slow, const RoundTimes &fast) {
  RoundTimes ratios;
  for (size_t i = 0; i < std::min(slow.size(), fast.size()); ++i)
    ratios.push_back(slow[i] / std::max(fast[i], 1.0));
  if (ratios.size() < kLeastRounds)
    return {};
  std::sort(ratios.begin(), ratios.end());
  double middle = static_cast<double>(ratios.size() - 1) / 2;
  double width = kHalfWidth * std::sqrt(static_cast<double>(ratios.size()));
  auto last = static_cast<double>(ratios.size() - 1);
  auto at = [&](double rank) { return ratios[static_cast<size_t>(std::clamp(rank, 0.0, last))]; };
  return {at(middle), at(std::floor(middle - width)), at(std::ceil(middle + width))};
}

} // namespace colldsl
