// What is too noisy to be used, and that it is measured again, by times that are written down.
#include "tools/tune/TimingNoise.h"

#include <gtest/gtest.h>

namespace colldsl::tools {
namespace {

RoundTimes repeated(std::initializer_list<double> times, size_t often) {
  RoundTimes all;
  for (size_t i = 0; i < often; ++i)
    all.insert(all.end(), times.begin(), times.end());
  return all;
}

TEST(Noise, theSpreadIsOfMostTimesNotOfTheWorst) {
  EXPECT_DOUBLE_EQ(spreadOf({}), 0);
  EXPECT_DOUBLE_EQ(spreadOf({100, 100, 100}), 0);
  EXPECT_DOUBLE_EQ(spreadOf({100, 110, 90, 100, 8'000'000}), 0.1);
  EXPECT_GT(spreadOf(repeated({361, 365'000}, 10)), 0.9);
}

TEST(Noise, ofTwoCallsTheOneThatVariesMore) {
  RoundTimes steady(30, 100), varies = repeated({100, 200, 300}, 10);
  EXPECT_DOUBLE_EQ(noiseOf(steady, steady).spread, 0);
  EXPECT_DOUBLE_EQ(noiseOf(steady, varies).spread, 0.5);
  EXPECT_DOUBLE_EQ(noiseOf(varies, steady).spread, 0.5);
}

TEST(Noise, theDriftIsOfTheUsualCallAndOfBarriers) {
  RoundTimes steady(30, 100), slower(15, 100), faster(15, 300);
  slower.insert(slower.end(), 15, 300);
  faster.insert(faster.end(), 15, 100);
  EXPECT_DOUBLE_EQ(noiseOf(steady, steady, steady).drift, 0);
  EXPECT_DOUBLE_EQ(noiseOf(slower, steady).drift, 2);
  EXPECT_DOUBLE_EQ(noiseOf(faster, steady).drift, 2);
  EXPECT_DOUBLE_EQ(noiseOf(steady, steady, slower).drift, 2);
}

TEST(Noise, barriersShowHowBusyTheMachineIs) {
  RoundTimes steady(30, 8e6), barriers(30, 8e6);
  EXPECT_DOUBLE_EQ(noiseOf(steady, steady, barriers).slowdown, 1) << "a quiet one is not known";
  EXPECT_DOUBLE_EQ(noiseOf(steady, steady, barriers, 800).slowdown, 10'000);
  EXPECT_FALSE(isSteady(noiseOf(steady, steady, barriers, 800), kUsualNoise));
  EXPECT_TRUE(isSteady(noiseOf(steady, steady, barriers, 1e6), kUsualNoise));
}

TEST(Noise, eachKindAloneIsTooMuch) {
  EXPECT_TRUE(isSteady({0.5, 0.5, 20}, 0.5));
  EXPECT_FALSE(isSteady({0.51, 0, 1}, 0.5));
  EXPECT_FALSE(isSteady({0, 0.51, 1}, 0.5));
  EXPECT_FALSE(isSteady({0, 0, 21}, 0.5));
  EXPECT_EQ(noiseWords({0.8, 0, 1}, 0.5), "its times vary by 80 %");
  EXPECT_EQ(noiseWords({0, 2, 1}, 0.5),
            "its times changed by 200 % from the first rounds to the last");
  EXPECT_EQ(noiseWords({0, 0, 30}, 0.5), "a barrier takes 30 times as long as on a quiet machine");
}

struct Measured {
  int number = 0;
  Noise noise;
};

/// Spreads of one measurement after the other, and which of them counts.
Result<Measured> steadily(std::vector<double> spreads, int &count, int mostTries = 100) {
  return measureSteadily(
      0.5,
      [&]() -> Result<Measured> {
        double spread = spreads.at(static_cast<size_t>(count++));
        if (spread < 0)
          return Status::error("a rank died");
        return Measured{count, {spread, 0, 1}};
      },
      [&]() -> Result<bool> { return count < mostTries; });
}

TEST(Noise, whatVariesIsMeasuredAgain) {
  int count = 0;
  EXPECT_EQ(steadily({0.1, 0}, count)->number, 1);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(steadily({9, 9, 0.1, 0}, count = 0)->number, 3);
}

TEST(Noise, whatAlwaysVariesIsLeftToTheCaller) {
  int count = 0;
  Result<Measured> last = steadily({9, 8, 7, 6, 5}, count);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(count, static_cast<int>(kMostTries));
  EXPECT_DOUBLE_EQ(last->noise.spread, 7);
}

TEST(Noise, withoutTimeThereIsNoOtherTry) {
  int count = 0;
  EXPECT_DOUBLE_EQ(steadily({9, 0}, count, 1)->noise.spread, 9);
  EXPECT_EQ(count, 1);
}

TEST(Noise, anErrorIsNotTriedAgain) {
  int count = 0;
  EXPECT_EQ(steadily({9, -1, 0}, count).message(), "a rank died");
  EXPECT_EQ(count, 2);
}

/// A cost by one measurement after the other, and how many were made.
Result<double> agreed(std::vector<double> costs, size_t &count) {
  count = 0;
  return measureUntilAgreed(
      0.5, [&]() -> Result<double> { return costs.at(count++); },
      [](double a, double b) { return apart(a, b); });
}

TEST(Noise, costsAreThoseThatCameTwice) {
  size_t count = 0;
  EXPECT_DOUBLE_EQ(*agreed({1000, 1200}, count), 1200);
  EXPECT_EQ(count, 2u);
  EXPECT_DOUBLE_EQ(*agreed({9000, 1000, 1100}, count), 1100);
  Result<double> none = agreed({1000, 3000, 9000, 4000, 4000}, count);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(count, 1 + size_t{kMostTries});
  EXPECT_NE(none.message().find("by 125 % at least: the machine is too busy; nothing is stored"),
            std::string::npos)
      << none.message();
}

TEST(Noise, theClockMakesNoDifference) {
  EXPECT_DOUBLE_EQ(apart(20, 110), 0);
  EXPECT_DOUBLE_EQ(apart(200, 400), 1);
  EXPECT_DOUBLE_EQ(apart(400, 200), 1);
}

} // namespace
} // namespace colldsl::tools
