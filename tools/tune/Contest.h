/// A contest of the candidates for a call with the usual choice: successive halving.
///
/// It begins with all contenders. In each round the remaining ones run once, in turns; after some
/// rounds the slower half drops out. The last one then takes turns with the usual choice alone, for
/// more rounds. Without contenders, the usual choice runs alone.
/// Example: 8 contenders: 8 and the usual choice, 4 and it, 2 and it, 1 and it.
/// bound: (1 + log2 contenders) * rounds calls of the usual choice; the given time.
/// source: K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter
/// optimization (2016)
#pragma once

#include "ir/Result.h"
#include "select/RoundTimes.h"
#include "tools/tune/TimingNoise.h"
#include "topology/MachineProfile.h"

#include <chrono>
#include <limits>
#include <vector>

namespace colldsl::tools {

/// A participant. Measurers derive from it.
struct Contender {
  TunedCollective what;
  RoundTimes times;     ///< of all rounds
  RoundTimes lastTimes; ///< of those that ran last
};
using Contenders = std::vector<Contender *>;

/// Runs contenders in turns. It removes those that fail from the list, and keeps the order of the
/// others. Its errors end the contest and become the contest's error.
class ContestMeasurer {
public:
  virtual ~ContestMeasurer() = default;
  /// Makes the first calls, which give each contender a first time.
  virtual Status warmUp(Contenders &left) = 0;
  /// Runs `rounds` rounds: sets the last times of the contenders, and adds these to their times.
  virtual Status measure(Contenders &left, uint32_t rounds) = 0;
  /// The estimated ns of a round of all these, from their times.
  virtual double roundNs(const Contenders &left) const = 0;
  /// The noise of the last rounds, from the times of the usual choice and another contender.
  virtual Noise noiseOf(const Contender &usual, const Contender &other) const {
    return tools::noiseOf(usual.lastTimes, other.lastTimes);
  }
};

struct ContestLimits {
  /// A hint: a rung runs its least number of rounds even if they exceed the time.
  std::chrono::nanoseconds time;
  /// A contender drops out at once if its first time exceeds the fastest one by more than this
  /// factor.
  double hopeless = std::numeric_limits<double>::infinity();
};

/// Bounds of the rounds of a rung: fewer show nothing, more show nothing new.
inline constexpr uint32_t kLeastRungRounds = 5, kMostRungRounds = 100;
/// Bounds of the rounds of the final.
inline constexpr uint32_t kLeastFinalRounds = 25, kMostFinalRounds = 400;

/// The number of rounds that fit into the time, clamped to [least, most].
uint32_t roundsIn(std::chrono::nanoseconds time, double roundNs, uint32_t least, uint32_t most);

struct ContestOutcome {
  const Contender *best = nullptr; ///< null: no contender is left, or the usual choice failed
  Ratio ratio{1, 1, 1};            ///< of the usual choice's times to those of `best`, in the final
  Noise noise;                     ///< of the final
};

/// `all`: the usual choice first. Of equal contenders the earlier one stays.
Result<ContestOutcome> holdContest(ContestMeasurer &measurer, Contenders all,
                                   const ContestLimits &limits);

/// Fills in the usual choice's time, an entry for each measured contender, the best one first, and
/// the margin. `all` as in holdContest().
void fillPoint(TuningPoint &point, const Contenders &all, const ContestOutcome &outcome);

} // namespace colldsl::tools
