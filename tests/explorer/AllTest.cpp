// As ExplorerTest.cpp and RemoteTest.cpp, with more messages and all orders.
#include "tests/explorer/LocalMachine.h"
#include "tests/explorer/ProgressMachine.h"
#include "tests/explorer/RemoteScenarios.h"
#include "tests/explorer/Scenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(AllLocal, ofTwoRanks) { EXPECT_EQ(explore<LocalMachine>(2, 3, 1), ""); }

TEST(AllLocal, ofThreeRanks) { EXPECT_EQ(explore<LocalMachine>(3, 2, 1), ""); }

// In parts, each of which takes minutes; they can be run at the same time.
constexpr size_t kLocalParts = 29;
class AllLocalParts : public ::testing::TestWithParam<size_t> {};
TEST_P(AllLocalParts, ofThreeRanksAndMessages) {
  EXPECT_EQ(explore<LocalMachine>(3, 3, kLocalParts, LocalMachine::Mutant::None, GetParam()), "");
}
INSTANTIATE_TEST_SUITE_P(Parts, AllLocalParts, ::testing::Range<size_t>(0, kLocalParts));

// The counts of scenarios that are not walked completely are printed.
TEST(AllRemote, oneMessage) {
  EXPECT_EQ(explore({.messages = 1, .as = {.hasAllOrders = true}}), "");
  EXPECT_EQ(explore({.messages = 1, .as = {.isLate = true}}), "");
}

TEST(AllRemote, severalRuns) {
  EXPECT_EQ(explore({.messages = 1, .as = {.runs = 2}}), "");
  EXPECT_EQ(explore({.messages = 1, .as = {.runs = 3}}), "");
}

TEST(AllRemote, fullWindow) {
  for (uint8_t from : {0, 1})
    for (Way way : {Way::Eager, Way::Read, Way::Written, Way::Fragments, Way::EarlyRtr, Way::Canary,
                    Way::Announced}) {
      Scenario scenario = {.messages = {{0, 1, Way::Eager}, {from, uint8_t(1 - from), way}}};
      scenario.windowBytes = 100; // of one message
      EXPECT_EQ(explore(scenario), "");
    }
}

TEST(AllRemote, ranksThatComeLateOrLeave) {
  EXPECT_EQ(explore({.messages = 1, .as = {.opensLate = true}}), "");
  EXPECT_EQ(explore({.messages = 1, .as = {.disconnects = true}}), "");
  EXPECT_EQ(explore({.messages = 1, .as = {.opensLate = true, .disconnects = true}}), "");
  EXPECT_EQ(explore({.messages = 1, .as = {.runs = 2, .disconnects = true}}), "");
}

TEST(AllRemote, memoryThatIsNotRegistered) {
  using network::Access;
  for (Access access : {Access::Read, Access::Write, Access::RemoteRead, Access::RemoteWrite})
    EXPECT_EQ(explore({.messages = 1, .as = {.runs = 2, .refused = maskOf(access)}}), "");
}

// In parts, too.
constexpr size_t kParts = 4;
class AllRemoteParts : public ::testing::TestWithParam<size_t> {};
TEST_P(AllRemoteParts, ofTwoMessages) {
  EXPECT_EQ(explore({.messages = 2, .every = kParts, .first = GetParam()}), "");
}
INSTANTIATE_TEST_SUITE_P(Parts, AllRemoteParts, ::testing::Range<size_t>(0, kParts));

TEST(AllRemote, threeMessages) {
  EXPECT_EQ(explore({.messages = 3, .every = 67, .mostStates = 300000}), "");
}

TEST(AllRemote, ofThreeRanks) {
  EXPECT_EQ(explore({.ranks = 3, .messages = 1}), "");
  EXPECT_EQ(explore({.ranks = 3, .messages = 2, .every = 17, .mostStates = 100000}), "");
  EXPECT_EQ(explore({.ranks = 3, .messages = 3, .every = 1009, .mostStates = 100000}), "");
}

TEST(AllProgress, overNetworks) {
  EXPECT_EQ(explore({.medium = Medium::Network, .ranks = 2, .runs = 2}, 2, 1), "");
  EXPECT_EQ(explore({.medium = Medium::Network, .ranks = 3, .runs = 2}, 2, 97), "");
}

TEST(AllProgress, inSharedMemory) {
  for (uint8_t inFlight : {1, 2}) {
    EXPECT_EQ(explore({.medium = Medium::SharedMemory, .ranks = 3, .inFlight = inFlight}, 2, 1),
              "");
    EXPECT_EQ(explore({.medium = Medium::SharedMemory, .ranks = 2, .inFlight = inFlight}, 3, 7),
              "");
  }
}

} // namespace
} // namespace colldsl::test
