#include "select/Trial.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace colldsl {
namespace {

constexpr uint32_t kProbeRounds = 2, kRungRounds = 6, kFinalRounds = 25, kMostFinalRounds = 100;
// A candidate whose time in a probe is less than this many times that of the rules' choice may be
// faster after all.
constexpr double kProbeReach = 2;
// The time of a call of a step beside the collective, on each rank: clock and counters.
constexpr double kTimingNs = 100;
// The factor by which the next step may take longer than those that ran before.
constexpr double kSpread = 1.5;
// The time of the first agreement on each rank, which makes its plan. It is not added up before the
// next step.
constexpr double kFirstAgreementNs = 30'000;
// A look takes place at the latest when the number of calls is this many times that at the step
// before.
constexpr uint64_t kLookAgain = 2;

} // namespace

Trials::Trials(const TrialSettings &settings) : settings_(settings), perCall_(kMostCandidates + 1) {
  beginStep(Step::Look, {kShipped}, settings_.lookCalls, std::max<uint64_t>(settings.firstLook, 1));
}

bool Trials::ran(uint64_t ns, uint64_t extraNs, bool isFailed) {
  const Turn &now = turns_[turn()];
  total(now.slot) += ns;
  if (now.isTimed)
    timed(now.round, now.slot) += ns;
  words_[kFailed] += isFailed;
  words_[kExtra] += extraNs + static_cast<uint64_t>(kTimingNs);
  trialCalls_ += slots_[now.slot] != kShipped;
  return turn() + 1 == turns_.size();
}

void Trials::setCandidates(uint32_t candidates, uint32_t unusable, uint64_t ns) {
  numCandidates_ = std::min<uint32_t>(candidates, kMostCandidates);
  words_[kExtra] += ns;
  for (uint32_t i = 0; i < numCandidates_; ++i)
    words_[words_.size() - kMostCandidates + i] = unusable >> i & 1;
}

void Trials::agree(std::span<const uint64_t> sums, uint64_t ns) {
  ownAgreement_ = ns;
  if (sums[kFailed] > 0)
    return giveUp();
  takeTimes(sums);
  account(sums);
  switch (step_) {
  case Step::Look:
    break;
  case Step::Search:
    endSearch(sums);
    break;
  case Step::Probe:
    endProbe();
    break;
  case Step::Rung:
    endRung();
    break;
  case Step::Final:
    endFinal();
    break;
  }
  plan();
}

void Trials::takeTimes(std::span<const uint64_t> sums) {
  stepTimes_.assign(slots_.size(), {});
  for (size_t round = 0; round < rounds_; ++round)
    for (size_t slot = 0; slot < slots_.size(); ++slot)
      stepTimes_[slot].push_back(
          static_cast<double>(sums[kHead + slots_.size() + round * slots_.size() + slot]));
  uint32_t row = inRow(slots_.size()), timedInRow = row > 1 ? row - 1 : 1;
  for (size_t slot = 0; slot < slots_.size(); ++slot)
    perCall_[slots_[slot]] = medianOf(stepTimes_[slot]) / timedInRow;
}

// Assumes that calls between two steps took the mean of the times of the rules' choice in both.
void Trials::account(std::span<const uint64_t> sums) {
  double before = shippedNs_ > 0 ? shippedNs_ : perCall_[kShipped];
  shippedNs_ = std::max(perCall_[kShipped], 1.0);
  communication_ += static_cast<double>(calls_ - accounted_) * (before + shippedNs_) / 2;
  accounted_ = calls_;
  if (sums[kAgreement] > 0)
    agreementNs_ = static_cast<double>(sums[kAgreement]);
  double calls = static_cast<double>(turns_.size()) / static_cast<double>(slots_.size());
  spent_ += static_cast<double>(sums[kExtra] + sums[kAgreement]);
  for (size_t slot = 1; slot < slots_.size(); ++slot)
    spent_ += std::max(0.0, static_cast<double>(sums[kHead + slot]) - calls * shippedNs_);
}

void Trials::endSearch(std::span<const uint64_t> sums) {
  for (uint32_t i = 0; i < numCandidates_; ++i)
    if (sums[sums.size() - kMostCandidates + i] == 0)
      left_.push_back(i + 1);
  phase_ = Phase::Probe;
}

// Compares the least times of a probe: other work on the machine makes calls longer, never shorter.
void Trials::endProbe() {
  auto least = [](const RoundTimes &times) {
    return *std::min_element(times.begin(), times.end());
  };
  if (least(stepTimes_[1]) > kProbeReach * least(stepTimes_[0]))
    left_.erase(left_.begin() + static_cast<ptrdiff_t>(probed_));
  else
    ++probed_;
}

void Trials::endRung() {
  std::vector<uint32_t> kept;
  for (size_t slot = 1; slot < slots_.size(); ++slot)
    if (ratioOf(stepTimes_[0], stepTimes_[slot]).most >= kLeastGain)
      kept.push_back(slots_[slot]);
  std::stable_sort(kept.begin(), kept.end(),
                   [&](uint32_t a, uint32_t b) { return perCall_[a] < perCall_[b]; });
  kept.resize(std::min(kept.size(), slots_.size() / 2)); // half of the candidates, rounded up
  left_ = std::move(kept);
}

void Trials::endFinal() {
  finalShipped_.insert(finalShipped_.end(), stepTimes_[0].begin(), stepTimes_[0].end());
  finalBest_.insert(finalBest_.end(), stepTimes_[1].begin(), stepTimes_[1].end());
  Ratio ratio = ratioOf(finalShipped_, finalBest_);
  if (ratio.least >= kLeastGain)
    finish(slots_[1], ratio);
  else if (ratio.most < kLeastGain || finalBest_.size() >= kMostFinalRounds)
    finish(kShipped, ratio);
}

void Trials::plan() {
  if (phase_ == Phase::Probe && probed_ == left_.size())
    phase_ = Phase::Rung;
  if (phase_ == Phase::Rung && left_.size() == 1)
    phase_ = Phase::Final;
  if (phase_ == Phase::Rung && left_.empty())
    finish(kShipped, {});
  switch (phase_) {
  case Phase::Search:
    return schedule(Step::Search, {kShipped},
                    settings_.ranks * static_cast<double>(settings_.expectedSearchNs), 1);
  case Phase::Probe:
    return planProbe();
  case Phase::Rung:
    return planRung();
  case Phase::Final:
    return planFinal();
  case Phase::Over:
    return;
  }
}

/// The expected cost of the candidates, from their last times, beyond that of as many calls of the
/// rules' choice.
double Trials::expectedCost(const std::vector<uint32_t> &candidates, uint32_t rounds) const {
  double cost = 0;
  for (uint32_t candidate : candidates)
    cost += callsOf(2, rounds) / 2 * std::max(0.0, kSpread * perCall_[candidate] - shippedNs_);
  return cost;
}

void Trials::planProbe() {
  double cost = callsOf(2, kProbeRounds) / 2 * (kCaution - 1) * shippedNs_;
  schedule(Step::Probe, {kShipped, left_[probed_]}, cost, kProbeRounds);
}

void Trials::planRung() {
  std::vector<uint32_t> slots = {kShipped};
  slots.insert(slots.end(), left_.begin(), left_.end());
  schedule(Step::Rung, std::move(slots), expectedCost(left_, kRungRounds), kRungRounds);
}

void Trials::planFinal() {
  schedule(Step::Final, {kShipped, left_.front()}, expectedCost(left_, kFinalRounds), kFinalRounds);
}

// Begins the step at the call where the budget affords it. If that is far off the time per call may
// change by then: so looks take place in between.
void Trials::schedule(Step step, std::vector<uint32_t> slots, double cost, uint32_t rounds) {
  double agreement = agreementNs_ > 0 ? agreementNs_ : settings_.ranks * kFirstAgreementNs;
  cost += 2 * agreement + callsOf(slots.size(), rounds) * settings_.ranks * kTimingNs;
  double missing = (spent_ + cost) / settings_.mostShare - communication_;
  double calls = std::clamp(std::ceil(missing / shippedNs_), 0.0, 1e15);
  uint64_t at = calls_ + 1 + static_cast<uint64_t>(calls);
  if (at > kLookAgain * calls_ + settings_.lookCalls)
    return beginStep(Step::Look, {kShipped}, settings_.lookCalls, kLookAgain * calls_);
  beginStep(step, std::move(slots), rounds, at);
}

// The order of a round is random, but alike on all ranks: a program may have a rhythm of its own.
void Trials::beginStep(Step step, std::vector<uint32_t> slots, uint32_t rounds, uint64_t at) {
  step_ = step;
  slots_ = std::move(slots);
  rounds_ = rounds;
  stepBegin_ = at;
  turns_.clear();
  std::minstd_rand random(++numSteps_);
  uint32_t row = inRow(slots_.size());
  for (uint32_t round = 0; round < rounds; ++round) {
    std::vector<uint32_t> order(slots_.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
      std::swap(order[i], order[random() % (i + 1)]);
    }
    for (uint32_t slot : order)
      for (uint32_t i = 0; i < row; ++i)
        turns_.push_back({slot, round, row == 1 || i > 0});
  }
  size_t flags = step == Step::Search ? kMostCandidates : 0;
  words_.assign(kHead + slots_.size() * (1 + rounds) + flags, 0);
  words_[kAgreement] = std::exchange(ownAgreement_, 0);
}

void Trials::finish(uint32_t best, Ratio margin) {
  phase_ = Phase::Over;
  isDecided_ = true;
  best_ = best;
  margin_ = margin;
  stepBegin_ = kNever;
}

double Trials::communicationNs() const {
  double now = best_ == kShipped ? shippedNs_ : perCall_[best_];
  return communication_ + static_cast<double>(calls_ - accounted_) * now;
}

} // namespace colldsl
