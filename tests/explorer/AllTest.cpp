// As ExplorerTest.cpp, with three messages.
#include "tests/explorer/LaneMachine.h"
#include "tests/explorer/ProgressMachine.h"
#include "tests/explorer/RemoteScenarios.h"
#include "tests/explorer/Scenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(AllLanes, ofTwoRanks) { EXPECT_EQ(explore<LaneMachine>(2, 3, 1), ""); }

TEST(AllLanes, ofThreeRanks) {
  EXPECT_EQ(explore<LaneMachine>(3, 2, 1), "");
  EXPECT_EQ(explore<LaneMachine>(3, 3, 1), "");
}

// The counts of scenarios that are not walked completely are printed.
TEST(AllRemote, oneMessage) {
  EXPECT_EQ(explore({.messages = 1, .mostStates = 50000, .hasAllOrders = true}), "");
  EXPECT_EQ(explore({.messages = 1, .mostStates = 50000, .isLate = true}), "");
}

TEST(AllRemote, twoMessages) { EXPECT_EQ(explore({.messages = 2, .mostStates = 20000}), ""); }

TEST(AllRemote, ofThreeRanks) {
  EXPECT_EQ(explore({.ranks = 3, .messages = 1}), "");
  EXPECT_EQ(explore({.ranks = 3, .messages = 2, .every = 17, .mostStates = 10000}), "");
  EXPECT_EQ(explore({.ranks = 3, .messages = 3, .every = 1009, .mostStates = 10000}), "");
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
