/// A contest of what can be done for a call, beside the usual choice: successive halving.
///
/// It begins with all contenders. In each round all that are left run once, in turns; after some
/// rounds the slower half is out. The last one runs in turns with the usual choice alone, until the
/// margin is known well. Where the usual choice is alone, it runs alone as often.
/// Example: 8 contenders: 8 and the usual choice, 4 and it, 2 and it, 1 and it.
/// bound: (1 + log2 contenders) * rounds calls of the usual choice; the time that is given.
/// source: K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter
/// optimization (2016)
#pragma once

#include "ir/Result.h"
#include "runtime/RoundTimes.h"
#include "tools/tune/TimingNoise.h"
#include "topology/MachineProfile.h"

#include <chrono>
#include <limits>
#include <vector>

namespace colldsl::tools {

/// What takes part; those who measure derive from it.
struct Contender {
  TunedCollective what;
  RoundTimes times;     ///< of all rounds
  RoundTimes lastTimes; ///< of those that ran last
};
using Contenders = std::vector<Contender *>;

/// Runs contenders in turns. Those that fail leave the list, whose order stays. An error ends the
/// contest, and is its error.
class ContestMeasurer {
public:
  virtual ~ContestMeasurer() = default;
  /// The first calls, of which each contender gets a first time.
  virtual Status warmUp(Contenders &left) = 0;
  /// So many rounds: sets their last times, and adds them to their times.
  virtual Status measure(Contenders &left, uint32_t rounds) = 0;
  /// What a round of all these takes, by their times.
  virtual double roundNs(const Contenders &left) const = 0;
  /// Of the rounds that ran last, by the times of the first contender and another one.
  virtual Noise noiseOf(const Contender &usual, const Contender &other) const {
    return tools::noiseOf(usual.lastTimes, other.lastTimes);
  }
};

struct ContestLimits {
  /// A hint: a rung has least numbers of rounds, whatever they take.
  std::chrono::nanoseconds time;
  /// Times the fastest first time: what is slower by more is out at once.
  double hopeless = std::numeric_limits<double>::infinity();
};

/// Rounds of a rung: fewer show nothing, more show nothing new.
inline constexpr uint32_t kLeastRungRounds = 5, kMostRungRounds = 100;
/// And of the last two.
inline constexpr uint32_t kLeastFinalRounds = 25, kMostFinalRounds = 400;

/// As many as fit, within these bounds.
uint32_t roundsIn(std::chrono::nanoseconds time, double roundNs, uint32_t least, uint32_t most);

struct ContestOutcome {
  const Contender *best = nullptr; ///< null: none is left, or the usual choice failed
  Ratio ratio{1, 1, 1};            ///< of the usual choice's times over its times, in the final
  Noise noise;                     ///< of the final
};

/// `all`: the usual choice first. Among equals the one that comes first stays.
Result<ContestOutcome> holdContest(ContestMeasurer &measurer, Contenders all,
                                   const ContestLimits &limits);

/// Of `all` as they took part: the usual choice's time, the entries of all that were measured, the
/// best one first, and its margin.
void fillPoint(TuningPoint &point, const Contenders &all, const ContestOutcome &outcome);

} // namespace colldsl::tools
