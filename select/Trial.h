/// Learning beside a program: it assigns candidates to the calls of a hot collective, and finds the
/// candidate that serves the calls from then on.
///
///   calls   1 ...... look ... look ... search . probe 1 .. probe 2 .. rung .. rung .. final |
///   served by what the rules chose, but for the calls of a step in their turns              | best
///
/// Calls are counted. At some of them a step begins: the next calls run candidates in turns, each
/// rank measures its own calls, and in the call that ends the step the ranks add up their
/// measurements, in one message. All else follows from these sums and from the number of the call,
/// so all ranks run the same candidate in the same call, and decide alike. Between steps nothing is
/// measured.
///
/// * look: some calls of what the rules chose are timed.
/// * search: each rank computes the candidates and prepares them.
/// * probe: one candidate runs for the first time.
/// * rung: all that are left run in turns with what the rules chose; the slower half is out.
/// * final: the last one runs in turns with what the rules chose, until the margin is known.
///
/// The budget: the cost of steps beyond that of the rules' choice (slower candidates, plans, the
/// search, the messages, the clock) is at most a share of the time in this collective so far. A
/// step begins at the call where the budget affords its expected cost: for a candidate that never
/// ran, `kCaution` times the time of the rules' choice. One that takes longer exceeds the budget
/// once, and is out; then nothing is tried until the share is right again. Times are medians and
/// all costs count, so that noise makes the budget smaller, not larger.
///
/// Pure: no clock, no messages. source: K. Jamieson, A. Talwalkar, Non-stochastic best arm
/// identification and hyperparameter optimization (2016), for the rungs.
#pragma once

#include "select/RoundTimes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace colldsl {

/// Alike on all ranks.
struct TrialSettings {
  uint32_t ranks = 2;
  uint64_t firstLook = 4096;     ///< the call that begins the first look
  double mostShare = 0.02;       ///< of the time in the collective; infinity: no budget
  uint64_t expectedSearchNs = 0; ///< of a rank
  uint32_t lookCalls = 8;
  /// Consecutive calls of a candidate before the next one has its turn. If there are several the
  /// first is not timed: it meets cold caches, and data that the candidate before left there.
  uint32_t callsInRow = 3;
};

/// The trials of a class of calls, on one rank.
class Trials {
public:
  /// Candidates have numbers from 1 on.
  static constexpr uint32_t kShipped = 0; ///< the rules' choice
  static constexpr size_t kMostCandidates = 8;
  static constexpr size_t kMostWords = 80; ///< words that ranks add up
  static constexpr double kCaution = 8;

  explicit Trials(const TrialSettings &settings);

  /// Counts a call. True: the call is part of a step, runs candidate() and reports ran(). False: it
  /// runs best().
  bool begin() { return ++calls_ >= stepBegin_; }

  // Called in a step.

  uint32_t candidate() const { return slots_[turns_[turn()].slot]; }
  /// Records this rank's measurement of the call. `extraNs`: additional time of the trial, such as
  /// that of making a plan. True: this call ends the step, and the ranks must add up their words().
  bool ran(uint64_t ns, uint64_t extraNs, bool isFailed);
  /// True if the candidates must be computed before the ranks add up: in the same call on all
  /// ranks.
  bool wantsCandidates() const { return step_ == Step::Search; }
  /// Sets the number of candidates, alike on all ranks, at most kMostCandidates; bit i - 1 of
  /// `unusable`: this rank cannot run candidate i. `ns`: the time of the search and the
  /// preparation.
  void setCandidates(uint32_t candidates, uint32_t unusable, uint64_t ns);
  /// The words that ranks add up: as many on all ranks, at most kMostWords.
  std::span<const uint64_t> words() const { return words_; }
  /// Takes the sums over all ranks. `ns`: the time that this rank needed to get them.
  void agree(std::span<const uint64_t> sums, uint64_t ns);

  /// Ends the learning, at the same call on all ranks: the rules' choice stays.
  void giveUp() {
    finish(kShipped, {});
    isDecided_ = false;
  }

  bool isOver() const { return phase_ == Phase::Over; }
  bool isDecided() const { return isDecided_; } ///< over, and not given up
  uint32_t best() const { return best_; }       ///< kShipped until it is over

  // Results so far.

  uint64_t calls() const { return calls_; }
  uint64_t trialCalls() const { return trialCalls_; } ///< that did not run the rules' choice
  /// The time per call of the rules' choice over that of the best one: the median, and its
  /// interval.
  const Ratio &margin() const { return margin_; }
  /// The mean time of a call over the ranks; 0: it was not measured in turns with others.
  double ns(uint32_t candidate) const { return perCall_[candidate] / settings_.ranks; }
  double communicationNs() const; ///< in this collective, of all ranks
  double spentNs() const {
    return spent_ + agreementNs_;
  } ///< of that, beyond the time of the rules' choice

private:
  enum class Phase : uint8_t { Search, Probe, Rung, Final, Over };
  enum class Step : uint8_t { Look, Search, Probe, Rung, Final };
  struct Turn {
    uint32_t slot;
    uint32_t round;
    bool isTimed;
  };
  static constexpr uint64_t kNever = UINT64_MAX;

  uint64_t turn() const { return calls_ - stepBegin_; }
  uint64_t &total(size_t slot) { return words_[kHead + slot]; }
  uint64_t &timed(size_t round, size_t slot) {
    return words_[kHead + slots_.size() + round * slots_.size() + slot];
  }
  void account(std::span<const uint64_t> sums);
  void takeTimes(std::span<const uint64_t> sums);
  void plan();
  void planProbe();
  void planRung();
  void planFinal();
  void endSearch(std::span<const uint64_t> sums);
  void endProbe();
  void endRung();
  void endFinal();
  uint32_t inRow(size_t slots) const { return slots == 1 ? 1 : settings_.callsInRow; }
  double callsOf(size_t slots, uint32_t rounds) const {
    return static_cast<double>(slots * rounds * inRow(slots));
  }
  double expectedCost(const std::vector<uint32_t> &candidates, uint32_t rounds) const;
  void schedule(Step step, std::vector<uint32_t> slots, double cost, uint32_t rounds);
  void beginStep(Step step, std::vector<uint32_t> slots, uint32_t rounds, uint64_t at);
  void finish(uint32_t best, Ratio margin);

  static constexpr size_t kFailed = 0, kExtra = 1, kAgreement = 2, kHead = 3;

  TrialSettings settings_;
  uint64_t calls_ = 0, stepBegin_ = 0, trialCalls_ = 0;
  Phase phase_ = Phase::Search;
  uint32_t best_ = kShipped;
  bool isDecided_ = false;
  uint32_t numCandidates_ = 0;
  uint64_t ownAgreement_ = 0; ///< time of the last one on this rank, not yet added up

  // The step that is under way, or the next one.
  Step step_ = Step::Look;
  std::vector<uint32_t> slots_; ///< candidates, the rules' choice first
  std::vector<Turn> turns_;
  uint32_t rounds_ = 0, numSteps_ = 0;
  std::vector<uint64_t> words_;

  // Alike on all ranks. Times are sums over the ranks.
  std::vector<uint32_t> left_;        ///< candidates that are not out
  size_t probed_ = 0;                 ///< of left_
  std::vector<double> perCall_;       ///< by candidate: the last known time
  std::vector<RoundTimes> stepTimes_; ///< by slot, of the step that ended
  RoundTimes finalShipped_, finalBest_;
  double shippedNs_ = 0; ///< of a call, now
  double agreementNs_ = 0;
  double communication_ = 0, spent_ = 0;
  uint64_t accounted_ = 0; ///< calls in communication_
  Ratio margin_;
};

} // namespace colldsl
