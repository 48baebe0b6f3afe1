// Which call tries what, on machines that are made up: no clock is read.
#include "select/Trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace colldsl {
namespace {

/// Ranks that make calls, and what these take by candidate.
class Job {
public:
  Job(std::vector<uint64_t> nsOf, TrialSettings settings) : nsOf_(std::move(nsOf)) {
    for (uint32_t rank = 0; rank < settings.ranks; ++rank)
      ranks_.emplace_back(settings);
  }

  void callOften(uint64_t calls) {
    for (uint64_t i = 0; i < calls; ++i)
      call();
  }

  /// On all ranks: what ran is the same everywhere.
  void call() {
    uint32_t ranCandidate = UINT32_MAX;
    bool ends = false;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      Trials &trials = ranks_[rank];
      bool isTurn = trials.begin();
      uint32_t candidate = isTurn ? trials.candidate() : trials.best();
      if (rank == 0)
        ranCandidate = candidate;
      EXPECT_EQ(candidate, ranCandidate) << "rank " << rank << ", call " << trials.calls();
      double factor = disturbance();
      auto ns = static_cast<uint64_t>(static_cast<double>(nsOf_[candidate]) * factor) + rank;
      spent_ += static_cast<double>(ns) -
                (static_cast<double>(nsOf_[0]) * factor + static_cast<double>(rank));
      communication_ += static_cast<double>(ns);
      if (!isTurn)
        continue;
      bool endsHere = trials.ran(ns, 0, fails && fails(rank, candidate));
      EXPECT_TRUE(rank == 0 || ends == endsHere);
      ends = endsHere;
    }
    ran_.push_back(ranCandidate);
    mostSpent_ = std::max(mostSpent_, communication_ > 0 ? spent_ / communication_ : 0);
    if (ends)
      agree();
  }

  uint64_t searchNs = 0, firstAgreementNs = 0, agreementNs = 0;
  uint32_t unusableOnRank1 = 0;
  double noise = 0;
  std::function<bool(size_t rank, uint32_t candidate)> fails;

  Trials &rank(size_t r) { return ranks_[r]; }
  const std::vector<uint32_t> &ran() const { return ran_; }
  /// The largest share of the time that trials took, at any time.
  double mostSpent() const { return mostSpent_; }

private:
  double disturbance() {
    return noise > 0 ? 1 + std::exponential_distribution<double>(1 / noise)(random_) : 1;
  }

  void agree() {
    std::vector<uint64_t> sums;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].wantsCandidates()) {
        ranks_[rank].setCandidates(static_cast<uint32_t>(nsOf_.size() - 1),
                                   rank == 1 ? unusableOnRank1 : 0, searchNs);
        spent_ += static_cast<double>(searchNs);
        communication_ += static_cast<double>(searchNs);
      }
      std::span<const uint64_t> words = ranks_[rank].words();
      EXPECT_LE(words.size(), Trials::kMostWords);
      EXPECT_TRUE(rank == 0 || words.size() == sums.size());
      sums.resize(words.size());
      std::transform(words.begin(), words.end(), sums.begin(), sums.begin(), std::plus<>());
    }
    uint64_t ns = std::exchange(firstAgreementNs, 0) + agreementNs;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].agree(sums, ns + rank * 10); // no rank may go by its own clock
      spent_ += static_cast<double>(ns);
      communication_ += static_cast<double>(ns);
    }
  }

  std::vector<uint64_t> nsOf_;
  std::vector<Trials> ranks_;
  std::vector<uint32_t> ran_;
  std::minstd_rand random_;
  double spent_ = 0, communication_ = 0, mostSpent_ = 0;
};

TrialSettings settings(uint32_t ranks = 3) {
  TrialSettings s;
  s.ranks = ranks;
  s.firstLook = 1000;
  s.expectedSearchNs = 50'000;
  return s;
}

TEST(Trials, theFastestServesTheRest) {
  Job job({1000, 1500, 800, 1100}, settings());
  job.noise = 0.05;
  job.searchNs = 40'000;
  job.callOften(100'000);
  ASSERT_TRUE(job.rank(0).isOver());
  EXPECT_EQ(job.rank(0).best(), 2u);
  EXPECT_NEAR(job.rank(0).margin().median, 1.25, 0.05);
  EXPECT_GE(job.rank(0).margin().least, 1.01);
  EXPECT_EQ(job.ran().back(), 2u);
  EXPECT_NEAR(job.rank(0).ns(2), 800, 80);
  for (size_t r = 1; r < 3; ++r) {
    EXPECT_EQ(job.rank(r).best(), 2u);
    EXPECT_EQ(job.rank(r).calls(), job.rank(0).calls());
  }
}

TEST(Trials, whatTheRulesChoseStaysIfNothingIsFaster) {
  for (std::vector<uint64_t> times :
       {std::vector<uint64_t>{1000, 1005, 1100, 1900}, std::vector<uint64_t>{1000, 998, 1400}}) {
    Job job(times, settings());
    job.noise = 0.05;
    job.callOften(300'000);
    EXPECT_TRUE(job.rank(0).isOver());
    EXPECT_EQ(job.rank(0).best(), Trials::kShipped);
    EXPECT_EQ(job.ran().back(), Trials::kShipped);
  }
}

TEST(Trials, costsNoMoreThanTheShare) {
  for (uint64_t unit : {200, 5'000, 300'000})
    for (double noise : {0.0, 0.3}) {
      TrialSettings given = settings();
      given.firstLook = 2'000'000 / unit;
      Job job({unit, unit * 2, unit * 15 / 10, unit * 7, unit * 3, unit * 11 / 10, unit * 9 / 10},
              given);
      job.noise = noise;
      job.searchNs = 60'000;
      job.agreementNs = std::min<uint64_t>(unit, 3000) + 1000;
      job.firstAgreementNs = 20'000; // its plan
      job.callOften(200'000);
      EXPECT_LE(job.mostSpent(), 0.02) << unit << " ns, noise " << noise;
      EXPECT_TRUE(job.rank(0).isOver()) << unit << " ns, noise " << noise;
      EXPECT_EQ(job.rank(0).best(), 6u) << unit << " ns, noise " << noise;
      if (noise == 0) {
        EXPECT_LE(job.rank(0).spentNs(), 0.02 * job.rank(0).communicationNs());
      }
    }
}

// The cost is known only once it has run: it is counted, and then nothing is tried until the share
// is right again.
TEST(Trials, aCandidateThatTakesFarLongerIsOutAndPaidBack) {
  Job job({1000, 400'000, 900}, settings());
  job.callOften(2'000'000);
  auto tried = static_cast<uint64_t>(std::count(job.ran().begin(), job.ran().end(), 1u));
  EXPECT_LE(tried, 6u);
  EXPECT_GT(job.mostSpent(), 0.02);
  auto last = std::find(job.ran().rbegin(), job.ran().rend(), 1u).base() - job.ran().begin();
  auto next = std::find(job.ran().begin() + last, job.ran().end(), 2u) - job.ran().begin();
  EXPECT_GE(next, static_cast<ptrdiff_t>(tried * 399 * 50)) << "the share was not right again";
  EXPECT_EQ(job.rank(0).best(), 2u);
}

TEST(Trials, aCandidateThatOneRankCannotRunIsTriedByNone) {
  Job job({1000, 500, 800}, settings());
  job.unusableOnRank1 = 1;
  job.callOften(100'000);
  EXPECT_EQ(std::count(job.ran().begin(), job.ran().end(), 1u), 0);
  EXPECT_EQ(job.rank(2).best(), 2u);
}

TEST(Trials, anErrorAtOneRankEndsTheLearningAtAll) {
  Job job({1000, 500, 800}, settings());
  job.fails = [](size_t rank, uint32_t candidate) { return rank == 2 && candidate == 1; };
  job.callOften(100'000);
  for (size_t r = 0; r < 3; ++r) {
    EXPECT_TRUE(job.rank(r).isOver());
    EXPECT_FALSE(job.rank(r).isDecided());
    EXPECT_EQ(job.rank(r).best(), Trials::kShipped);
  }
}

TEST(Trials, betweenStepsNothingIsMeasured) {
  Job job({1000, 800}, settings());
  job.callOften(999);
  EXPECT_EQ(job.rank(0).communicationNs(), 0) << "before the first look";
  Trials &trials = job.rank(0);
  EXPECT_TRUE(trials.begin());
  EXPECT_EQ(trials.candidate(), Trials::kShipped);
}

TEST(Trials, withoutABudgetAllIsTriedAtOnce) {
  TrialSettings s = settings(2);
  s.mostShare = std::numeric_limits<double>::infinity();
  s.firstLook = 1;
  Job job({1000, 1500, 800, 1100, 1200, 1300, 1400, 1350, 1450}, s);
  job.callOften(1000);
  EXPECT_EQ(job.rank(0).best(), 2u);
  for (uint32_t candidate = 0; candidate <= 8; ++candidate)
    EXPECT_GE(std::count(job.ran().begin(), job.ran().end(), candidate), 6);
}

TEST(Trials, withoutCandidatesItIsOverAfterTheSearch) {
  Job job({1000}, settings());
  job.callOften(100'000);
  EXPECT_TRUE(job.rank(0).isOver());
  EXPECT_EQ(job.rank(0).trialCalls(), 0u);
}

} // namespace
} // namespace colldsl
