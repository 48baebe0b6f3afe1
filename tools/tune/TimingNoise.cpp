#include "tools/tune/TimingNoise.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

constexpr size_t kLeastRounds = 9; // so that a third has a meaningful median

double driftOf(const RoundTimes &times) {
  if (times.size() < kLeastRounds)
    return 0;
  auto third = static_cast<ptrdiff_t>(times.size() / 3);
  double first = medianOf({times.begin(), times.begin() + third});
  double last = medianOf({times.end() - third, times.end()});
  return std::max(first, last) / std::max(std::min(first, last), 1.0) - 1;
}

std::string percent(double part) { return llvm::formatv("{0:f0} %", 100 * part).str(); }

} // namespace

Noise noiseOf(const RoundTimes &usual, const RoundTimes &other, const RoundTimes &barriers,
              double quietNs) {
  Noise noise;
  noise.spread = std::max(spreadOf(usual), spreadOf(other));
  noise.drift = std::max(driftOf(usual), driftOf(barriers));
  if (quietNs > 0 && !barriers.empty())
    noise.slowdown = medianOf(barriers) / quietNs;
  return noise;
}

bool isSteady(const Noise &noise, double limit) {
  return noise.spread <= limit && noise.drift <= limit &&
         noise.slowdown <= limit * kSlowdownPerNoise;
}

double apart(double a, double b) {
  constexpr double kSlackNs = 100;
  double less = std::min(a, b), more = std::max(a, b);
  return more - less <= kSlackNs ? 0 : more / std::max(less, 1.0) - 1;
}

Status disagreement(double difference) {
  return Status::error("messages and copies take other times whenever they are measured, by " +
                       percent(difference) +
                       " at least: the machine is too busy; nothing is "
                       "stored");
}

std::string noiseWords(const Noise &noise, double limit) {
  if (noise.spread > limit)
    return "its times vary by " + percent(noise.spread);
  if (noise.drift > limit)
    return "its times changed by " + percent(noise.drift) + " from the first rounds to the last";
  return llvm::formatv("a barrier takes {0:f0} times as long as on a quiet machine", noise.slowdown)
      .str();
}

} // namespace colldsl::tools
