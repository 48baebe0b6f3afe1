// States that are taken for one are one: where those with different histories are told apart, the
// same states are reached, the same ends among them.
#include "tests/explorer/RemoteWorld.h"
#include "tests/explorer/ReplayExplorer.h"
#include "tests/explorer/Scenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using Found = ReplayExplorer<RemoteWorld>;

/// How many states there are; 0: not the same with and without histories.
uint64_t compare(Scenario scenario) {
  Found states(scenario);
  Exploration found = states.run();
  scenario.hasHistories = true;
  Found histories(scenario);
  Exploration other = histories.run();
  bool isAlike = found.wrong.empty() && other.wrong.empty() && found.states <= other.states &&
                 states.reached() == histories.reached();
  return isAlike ? found.states : 0;
}

constexpr std::array kWays = {Way::Eager,    Way::Read,   Way::Written,  Way::Fragments,
                              Way::EarlyRtr, Way::Canary, Way::Announced};

TEST(States, ofOneMessage) {
  forEachScenario(2, 1, kWays, 1, [](const Scenario &scenario) {
    EXPECT_NE(compare(scenario), 0u);
    return true;
  });
}

TEST(States, ofLateRanks) {
  for (Way way : kWays) {
    Scenario scenario = {.messages = {{0, 1, way}}, .isLate = true};
    EXPECT_NE(compare(scenario), 0u);
    scenario.trouble = Trouble::Dies;
    EXPECT_NE(compare(scenario), 0u);
  }
}

TEST(States, ofAllOrders) {
  Scenario scenario = {.messages = {{0, 1, Way::Eager}}, .trouble = Trouble::Fails};
  scenario.hasAllOrders = true;
  EXPECT_NE(compare(scenario), 0u);
}

TEST(States, ofTwoMessages) {
  Scenario scenario = {.messages = {{0, 1, Way::Read}, {1, 0, Way::Eager}}};
  EXPECT_NE(compare(scenario), 0u);
  scenario.trouble = Trouble::Dies;
  EXPECT_NE(compare(scenario), 0u);
  scenario = {.messages = {{0, 1, Way::Written}, {0, 1, Way::EarlyRtr}}};
  EXPECT_NE(compare(scenario), 0u);
}

TEST(States, ofSeveralRuns) {
  for (Way way : kWays)
    EXPECT_NE(compare({.messages = {{0, 1, way}}, .trouble = Trouble::Dies, .runs = 2}), 0u);
}

TEST(States, ofRanksThatComeLateAndLeave) {
  for (Way way : kWays) {
    Scenario scenario = {.messages = {{0, 1, way}}, .windowBytes = 100, .opensLate = true};
    scenario.disconnects = true;
    EXPECT_NE(compare(scenario), 0u);
  }
}

TEST(States, ofThreeRanks) {
  Scenario scenario = {.ranks = 3, .messages = {{0, 1, Way::Written}, {2, 1, Way::Eager}}};
  scenario.trouble = Trouble::Dies;
  EXPECT_NE(compare(scenario), 0u);
}

} // namespace
} // namespace colldsl::test
