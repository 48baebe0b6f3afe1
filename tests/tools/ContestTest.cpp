// Contests whose measurements are written down: what is left of the contenders when, and who wins.
#include "tools/tune/Contest.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace colldsl::tools {
namespace {

using namespace std::chrono_literals;

/// Times per call as a test gives them, in nanoseconds, and what was measured.
class Scripted : public ContestMeasurer {
public:
  /// The first one is the usual choice.
  explicit Scripted(const std::vector<double> &ns) {
    contenders_.resize(ns.size());
    for (size_t i = 0; i < ns.size(); ++i) {
      contenders_[i].what.name = i == 0 ? "usual" : "c" + std::to_string(i);
      ns_[&contenders_[i]] = ns[i];
    }
  }

  Contenders all() {
    Contenders all;
    for (Contender &c : contenders_)
      all.push_back(&c);
    return all;
  }
  Result<ContestOutcome> hold(std::chrono::nanoseconds time = 1s,
                              double hopeless = std::numeric_limits<double>::infinity()) {
    return holdContest(*this, all(), {time, hopeless});
  }

  Status warmUp(Contenders &left) override { return run(left, 1); }
  Status measure(Contenders &left, uint32_t rounds) override { return run(left, rounds); }
  double roundNs(const Contenders &left) const override {
    double sum = 0;
    for (const Contender *c : left)
      sum += medianOf(c->times);
    return sum;
  }

  std::map<std::string, size_t> failsIn;                    ///< steps, the warm-up is 0
  std::map<std::string, std::pair<size_t, double>> changes; ///< from a step on: other times
  std::map<std::string, double> grows;                      ///< by so much per round
  size_t errorIn = SIZE_MAX;                                ///< a step
  std::vector<std::vector<std::string>> ran;                ///< by step: contenders
  std::vector<uint32_t> rounds;                             ///< by step

private:
  Status run(Contenders &left, uint32_t count) {
    size_t step = ran.size();
    if (step == errorIn)
      return Status::error("interrupted");
    ran.emplace_back();
    rounds.push_back(count);
    for (const Contender *c : left)
      ran.back().push_back(c->what.name);
    std::erase_if(left, [&](const Contender *c) {
      auto fails = failsIn.find(c->what.name);
      return fails != failsIn.end() && fails->second == step;
    });
    for (Contender *c : left) {
      auto change = changes.find(c->what.name);
      bool isOther = change != changes.end() && step >= change->second.first;
      double ns = isOther ? change->second.second : ns_[c];
      auto growth = grows.find(c->what.name);
      c->lastTimes.assign(count, ns);
      for (uint32_t i = 0; growth != grows.end() && i < count; ++i)
        c->lastTimes[i] *= 1 + growth->second * i;
      c->times.insert(c->times.end(), c->lastTimes.begin(), c->lastTimes.end());
    }
    return {};
  }

  std::vector<Contender> contenders_;
  std::map<const Contender *, double> ns_;
};

using Names = std::vector<std::string>;

TEST(Contest, theSlowerHalfIsOutAfterEachRung) {
  Scripted s({100, 90, 80, 70, 60, 50});
  Result<ContestOutcome> outcome = s.hold();
  ASSERT_TRUE(outcome.ok());
  ASSERT_TRUE(outcome->best);
  EXPECT_EQ(outcome->best->what.name, "c5");
  EXPECT_DOUBLE_EQ(outcome->ratio.median, 2);
  ASSERT_EQ(s.ran.size(), 5u);
  EXPECT_EQ(s.ran[0], (Names{"usual", "c1", "c2", "c3", "c4", "c5"}));
  EXPECT_EQ(s.ran[1], s.ran[0]);
  EXPECT_EQ(s.ran[2], (Names{"usual", "c5", "c4", "c3"}));
  EXPECT_EQ(s.ran[3], (Names{"usual", "c5", "c4"}));
  EXPECT_EQ(s.ran[4], (Names{"usual", "c5"}));
}

TEST(Contest, theUsualChoiceStaysHoweverSlow) {
  Scripted s({1000, 10, 20});
  Result<ContestOutcome> outcome = s.hold(1s, 4);
  ASSERT_TRUE(outcome.ok() && outcome->best);
  EXPECT_EQ(outcome->best->what.name, "c1");
  EXPECT_DOUBLE_EQ(outcome->ratio.median, 100);
}

TEST(Contest, aBestThatIsSlowerThanTheUsualChoiceIsSeenByItsRatio) {
  Scripted s({50, 100, 200});
  Result<ContestOutcome> outcome = s.hold();
  ASSERT_TRUE(outcome.ok() && outcome->best);
  EXPECT_EQ(outcome->best->what.name, "c1");
  EXPECT_DOUBLE_EQ(outcome->ratio.median, 0.5);
  EXPECT_LE(outcome->ratio.least, 0.5);
}

TEST(Contest, amongEqualsTheFirstOneStays) {
  Scripted s({100, 50, 50, 50, 50});
  Result<ContestOutcome> outcome = s.hold();
  ASSERT_TRUE(outcome.ok() && outcome->best);
  EXPECT_EQ(outcome->best->what.name, "c1");
}

TEST(Contest, whatIsHopelessIsOutBeforeTheFirstRung) {
  Scripted s({100, 10, 40, 41, 400});
  ASSERT_TRUE(s.hold(1s, 4).ok());
  EXPECT_EQ(s.ran[1], (Names{"usual", "c1", "c2"}));
}

TEST(Contest, allRoundsSoFarDecideARung) {
  Scripted s({100, 40, 50, 60});
  s.changes = {{"c3", {1, 10}}};
  Result<ContestOutcome> outcome = s.hold();
  ASSERT_TRUE(outcome.ok() && outcome->best);
  EXPECT_EQ(outcome->best->what.name, "c3") << "the warm-up is one round of many";
}

// 54 rounds come before the 100 of the final.
TEST(Contest, theRatioIsOfTheFinalAlone) {
  Scripted s({1000, 1000, 1000, 1000, 1000});
  s.changes = {{"usual", {3, 1500}}};
  Result<ContestOutcome> outcome = s.hold(400us);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(s.ran.size(), 4u);
  EXPECT_DOUBLE_EQ(outcome->ratio.median, 1.5);
  EXPECT_DOUBLE_EQ(outcome->ratio.least, 1.5);
}

TEST(Contest, aContenderThatFailsIsOutAndTheOthersGoOn) {
  for (size_t step : {0, 1, 2}) {
    Scripted s({100, 50, 60, 70, 80});
    s.failsIn = {{"c1", step}};
    Result<ContestOutcome> outcome = s.hold();
    ASSERT_TRUE(outcome.ok() && outcome->best) << "in step " << step;
    EXPECT_EQ(outcome->best->what.name, "c2") << "in step " << step;
  }
}

TEST(Contest, withoutTheUsualChoiceThereIsNoWinner) {
  for (size_t step : {0, 1, 2, 3}) {
    Scripted s({100, 50, 60, 70});
    s.failsIn = {{"usual", step}};
    Result<ContestOutcome> outcome = s.hold();
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->best, nullptr) << "in step " << step;
    EXPECT_EQ(s.ran.size(), step + 1) << "nothing runs afterwards";
  }
}

TEST(Contest, withoutContendersThereIsNoWinner) {
  for (bool isAlone : {true, false}) {
    Scripted s(isAlone ? std::vector<double>{100} : std::vector<double>{100, 50});
    s.failsIn = {{"c1", 1}};
    Result<ContestOutcome> outcome = s.hold();
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->best, nullptr);
    EXPECT_DOUBLE_EQ(outcome->ratio.least, 1);
    EXPECT_EQ(s.ran.size(), 2u) << "alone it runs for its time";
  }
}

TEST(Contest, anErrorEndsItAtOnce) {
  for (size_t step : {0, 1, 2, 3}) {
    Scripted s({100, 50, 60, 70});
    s.errorIn = step;
    Result<ContestOutcome> outcome = s.hold();
    ASSERT_FALSE(outcome.ok()) << "in step " << step;
    EXPECT_EQ(outcome.message(), "interrupted");
    EXPECT_EQ(s.ran.size(), step);
  }
}

// Of 3 or 4 contenders: a rung of all, one of 2, and a final of twice a rung's time.
TEST(Contest, theTimeIsSharedByTheRungs) {
  Scripted four({1000, 1000, 1000, 1000, 1000}), three({1000, 1000, 1000, 1000});
  ASSERT_TRUE(four.hold(400us).ok() && three.hold(400us).ok());
  EXPECT_EQ(four.rounds, (std::vector<uint32_t>{1, 20, 33, 100}));
  EXPECT_EQ(three.rounds, (std::vector<uint32_t>{1, 25, 33, 100}));
}

TEST(Contest, aTimeThatIsOverLeavesTheLeastRounds) {
  for (std::chrono::nanoseconds time : {0ns, -5'000'000'000ns}) {
    Scripted s({1000, 900, 800});
    Result<ContestOutcome> outcome = s.hold(time);
    ASSERT_TRUE(outcome.ok() && outcome->best);
    EXPECT_EQ(outcome->best->what.name, "c2");
    EXPECT_EQ(s.rounds, (std::vector<uint32_t>{1, kLeastRungRounds, kLeastFinalRounds}));
  }
}

TEST(Contest, moreTimeThanNeededIsNotUsed) {
  Scripted s({1, 1, 1});
  ASSERT_TRUE(s.hold(3600s).ok());
  EXPECT_EQ(s.rounds, (std::vector<uint32_t>{1, kMostRungRounds, kMostFinalRounds}));
}

TEST(Contest, aPointHasTheBestFirstAndAllThatWasMeasured) {
  Scripted s({100, 50, 60, 200, 70});
  s.changes = {{"c1", {1, 90}}, {"c2", {1, 80}}, {"usual", {1, 120}}};
  s.failsIn = {{"c3", 0}, {"c4", 1}};
  Contenders all = s.all();
  Result<ContestOutcome> outcome = s.hold();
  ASSERT_TRUE(outcome.ok());
  TuningPoint point;
  fillPoint(point, all, *outcome);
  EXPECT_DOUBLE_EQ(point.shippedNs, 120);
  EXPECT_DOUBLE_EQ(point.margin, 1.5);
  EXPECT_DOUBLE_EQ(point.least, 1.5);
  ASSERT_EQ(point.entries.size(), 3u);
  EXPECT_EQ(point.entries[0].what.name, "c2");
  EXPECT_EQ(point.entries[1].what.name, "c4") << "it failed once it was measured";
  EXPECT_EQ(point.entries[2].what.name, "c1");
}

TEST(Contest, theFinalTellsHowMuchItsTimesVary) {
  Scripted steady({100, 50}), drifts({100, 50});
  EXPECT_DOUBLE_EQ(steady.hold()->noise.spread, 0);
  EXPECT_DOUBLE_EQ(steady.hold()->noise.drift, 0);
  drifts.grows = {{"usual", 0.1}};
  Contenders all = drifts.all();
  Result<ContestOutcome> outcome = drifts.hold();
  ASSERT_TRUE(outcome.ok());
  EXPECT_GT(outcome->noise.spread, 0.2);
  EXPECT_GT(outcome->noise.drift, 0.9);
  TuningPoint point;
  fillPoint(point, all, *outcome);
  EXPECT_DOUBLE_EQ(point.spread, outcome->noise.spread);
  EXPECT_DOUBLE_EQ(point.drift, outcome->noise.drift);
}

TEST(Contest, aPointWithoutAWinnerHasNoMargin) {
  Scripted s({100});
  Contenders all = s.all();
  Result<ContestOutcome> outcome = s.hold();
  ASSERT_TRUE(outcome.ok());
  TuningPoint point;
  fillPoint(point, all, *outcome);
  EXPECT_TRUE(point.entries.empty());
  EXPECT_DOUBLE_EQ(point.margin, 1);
  EXPECT_DOUBLE_EQ(point.least, 1);
}

} // namespace
} // namespace colldsl::tools
