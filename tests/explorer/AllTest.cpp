// As ExplorerTest.cpp, with three messages.
#include "tests/explorer/LaneScenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(AllLanes, ofTwoRanks) { EXPECT_EQ(explore(2, 3, 1).wrong, ""); }

TEST(AllLanes, ofThreeRanks) {
  EXPECT_EQ(explore(3, 2, 1).wrong, "");
  EXPECT_EQ(explore(3, 3, 1).wrong, "");
}

} // namespace
} // namespace colldsl::test
