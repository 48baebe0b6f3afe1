// All interleavings of ranks that run a plan several times, in which ends of messages have no
// bytes: no rank waits for good, and none gives up a message that comes.
#include "tests/explorer/ProgressMachine.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using Mutant = ProgressMachine::Mutant;

constexpr Medium kNetwork = Medium::Network, kShared = Medium::SharedMemory;

TEST(Progress, overNetworks) {
  EXPECT_EQ(explore({.medium = kNetwork, .ranks = 2, .runs = 3}, 1, 1), "");
  EXPECT_EQ(explore({.medium = kNetwork, .ranks = 2, .runs = 2}, 2, 71), "");
  EXPECT_EQ(explore({.medium = kNetwork, .ranks = 3, .runs = 2}, 2, 19997), "");
}

TEST(Progress, inSharedMemory) {
  for (uint8_t inFlight : {1, 2}) {
    EXPECT_EQ(explore({.medium = kShared, .ranks = 2, .runs = 3, .inFlight = inFlight}, 1, 1), "");
    EXPECT_EQ(explore({.medium = kShared, .ranks = 2, .runs = 2, .inFlight = inFlight}, 2, 3), "");
    EXPECT_EQ(explore({.medium = kShared, .ranks = 3, .runs = 2, .inFlight = inFlight}, 2, 41), "");
  }
}

struct Wrong {
  Mutant mutant;
  const char *name, *finding;
  ProgressScenario shape;
  size_t messages;
};
void PrintTo(const Wrong &wrong, std::ostream *out) { *out << wrong.name; }

class WrongProgress : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongProgress, isFound) {
  const Wrong &rule = GetParam();
  std::string found = explore(rule.shape, rule.messages, 1, rule.mutant);
  EXPECT_NE(found.find(rule.finding), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongProgress,
    ::testing::Values(Wrong{Mutant::ForgetsSkips,
                            "forgetsSkips",
                            "waits for good",
                            {.medium = kNetwork, .runs = 3},
                            1},
                      Wrong{Mutant::AnswersForOpenRuns,
                            "answersForOpenRuns",
                            "waits for good",
                            {.medium = kNetwork},
                            1},
                      Wrong{Mutant::TakesWritesAsOrdered,
                            "takesWritesAsOrdered",
                            "that comes",
                            {.medium = kNetwork},
                            1},
                      Wrong{Mutant::LooksOnce, "looksOnce", "that comes", {.medium = kShared}, 1},
                      Wrong{Mutant::EndsWhenIdle,
                            "endsWhenIdle",
                            "waits for good",
                            {.medium = kShared, .inFlight = 2},
                            2}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::test
