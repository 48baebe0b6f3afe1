#include "tools/tune/Contest.h"

#include "select/Decision.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

bool isFaster(const Contender *a, const Contender *b) {
  return medianOf(a->times) < medianOf(b->times);
}

void dropHopeless(Contenders &left, double factor) {
  double best = medianOf((*std::min_element(left.begin(), left.end(), isFaster))->times);
  left.erase(std::remove_if(left.begin() + 1, left.end(),
                            [&](const Contender *c) { return medianOf(c->times) > factor * best; }),
             left.end());
}

/// Drops the slower half of all contenders except the usual choice, the first one.
void halve(Contenders &left) {
  std::stable_sort(left.begin() + 1, left.end(), isFaster);
  left.resize(1 + left.size() / 2);
}

/// The number of rungs until one contender is left.
int64_t rungsFor(size_t contenders) {
  int64_t rungs = 1;
  for (; contenders > 1; contenders = (contenders + 1) / 2)
    ++rungs;
  return rungs;
}

} // namespace

uint32_t roundsIn(std::chrono::nanoseconds time, double roundNs, uint32_t least, uint32_t most) {
  double rounds = static_cast<double>(time.count()) / std::max(roundNs, 1.0);
  return static_cast<uint32_t>(std::clamp<double>(rounds, least, most));
}

// The final takes the time of two rungs.
Result<ContestOutcome> holdContest(ContestMeasurer &measurer, Contenders left,
                                   const ContestLimits &limits) {
  const Contender *usual = left.front();
  auto isOver = [&] { return left.size() < 2 || left.front() != usual; };
  if (Status s = measurer.warmUp(left); !s)
    return s;
  auto run = [&](std::chrono::nanoseconds time, uint32_t least, uint32_t most) {
    return measurer.measure(left, roundsIn(time, measurer.roundNs(left), least, most));
  };
  if (left.size() == 1 && left.front() == usual) {
    ContestOutcome alone;
    Status s = run(limits.time, kLeastFinalRounds, kMostRungRounds);
    if (s && !left.empty())
      alone.noise = measurer.noiseOf(*usual, *usual);
    return s ? Result(alone) : s;
  }
  if (isOver())
    return ContestOutcome();
  dropHopeless(left, limits.hopeless);
  std::chrono::nanoseconds ofRung = limits.time / (rungsFor(left.size() - 1) + 1);
  while (left.size() > 2) {
    if (Status s = run(ofRung, kLeastRungRounds, kMostRungRounds); !s)
      return s;
    if (isOver())
      return ContestOutcome();
    halve(left);
  }
  if (isOver())
    return ContestOutcome();
  if (Status s = run(2 * ofRung, kLeastFinalRounds, kMostFinalRounds); !s)
    return s;
  if (isOver())
    return ContestOutcome();
  return ContestOutcome{left[1], ratioOf(usual->lastTimes, left[1]->lastTimes),
                        measurer.noiseOf(*usual, *left[1])};
}

// The winner comes first, even if others were faster in their fewer rounds.
void fillPoint(TuningPoint &point, const Contenders &all, const ContestOutcome &outcome) {
  point.shippedNs = medianOf(all.front()->times);
  for (auto c = all.begin() + 1; c != all.end(); ++c)
    if (!(*c)->times.empty())
      point.entries.push_back({(*c)->what, medianOf((*c)->times)});
  sortEntries(point, outcome.best ? &outcome.best->what : nullptr);
  point.margin = outcome.ratio.median;
  point.least = outcome.ratio.least;
  point.spread = outcome.noise.spread;
  point.drift = outcome.noise.drift;
}

} // namespace colldsl::tools
