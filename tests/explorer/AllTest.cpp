// As ExplorerTest.cpp, with three messages.
#include "tests/explorer/LaneMachine.h"
#include "tests/explorer/NetworkMachine.h"
#include "tests/explorer/ProgressMachine.h"
#include "tests/explorer/Scenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(AllLanes, ofTwoRanks) { EXPECT_EQ(explore<LaneMachine>(2, 3, 1), ""); }

TEST(AllLanes, ofThreeRanks) {
  EXPECT_EQ(explore<LaneMachine>(3, 2, 1), "");
  EXPECT_EQ(explore<LaneMachine>(3, 3, 1), "");
}

TEST(AllNetworks, ofTwoRanks) {
  EXPECT_EQ(explore<NetworkMachine>(2, 2, 1), "");
  EXPECT_EQ(explore<NetworkMachine>(2, 3, 1), "");
}

TEST(AllNetworks, ofThreeRanks) {
  EXPECT_EQ(explore<NetworkMachine>(3, 2, 1), "");
  EXPECT_EQ(explore<NetworkMachine>(3, 3, 1), "");
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
