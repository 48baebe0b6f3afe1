// All interleavings of ranks that exchange messages over a network, of which one fails or dies
// anywhere, and the protocol is the one that runs.
#include "tests/explorer/RemoteScenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr uint32_t kOneMessage = 100; ///< of the window, as units of an eager message

TEST(Remote, oneMessage) { EXPECT_EQ(explore({.messages = 1}), ""); }

TEST(Remote, oneMessageLate) {
  EXPECT_EQ(explore({.messages = 1, .mostStates = 2000, .as = {.isLate = true}}), "");
}

TEST(Remote, twoMessages) {
  EXPECT_EQ(explore({.messages = 2, .every = 11, .mostStates = 1000}), "");
}

TEST(Remote, ofThreeRanks) {
  EXPECT_EQ(explore({.ranks = 3, .messages = 1, .mostStates = 1000}), "");
  EXPECT_EQ(explore({.ranks = 3, .messages = 2, .every = 101, .mostStates = 1000}), "");
}

TEST(Remote, severalRuns) { EXPECT_EQ(explore({.messages = 1, .as = {.runs = 2}}), ""); }

TEST(Remote, fullWindow) {
  Scenario scenario = {.messages = {{0, 1, Way::Eager}, {0, 1, Way::Eager}}};
  scenario.windowBytes = kOneMessage;
  EXPECT_EQ(explore(scenario), "");
}

TEST(Remote, fullWindowBeforeAnRtrThatStays) {
  Scenario scenario = {.messages = {{0, 1, Way::Announced}, {0, 1, Way::Eager}}};
  scenario.windowBytes = kOneMessage;
  scenario.runs = 2;
  EXPECT_EQ(explore(scenario, 20000), "");
}

TEST(Remote, lateOpens) { EXPECT_EQ(explore({.messages = 1, .as = {.opensLate = true}}), ""); }

TEST(Remote, ranksThatLeave) {
  EXPECT_EQ(explore({.messages = 1, .as = {.disconnects = true}}), "");
}

TEST(Remote, memoryThatIsNotRegistered) {
  using network::Access;
  for (Access access : {Access::Read, Access::Write, Access::RemoteRead, Access::RemoteWrite})
    EXPECT_EQ(explore({.messages = 1, .as = {.refused = maskOf(access)}}), "");
}

} // namespace
} // namespace colldsl::test
