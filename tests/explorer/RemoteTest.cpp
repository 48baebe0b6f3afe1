// All interleavings of ranks that exchange messages over a network, of which one fails or dies
// anywhere, and the protocol is the one that runs.
#include "tests/explorer/RemoteScenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Remote, oneMessage) { EXPECT_EQ(explore({.messages = 1}), ""); }

TEST(Remote, oneMessageLate) {
  EXPECT_EQ(explore({.messages = 1, .mostStates = 2000, .isLate = true}), "");
}

TEST(Remote, twoMessages) {
  EXPECT_EQ(explore({.messages = 2, .every = 11, .mostStates = 1000}), "");
}

TEST(Remote, ofThreeRanks) {
  EXPECT_EQ(explore({.ranks = 3, .messages = 1, .mostStates = 1000}), "");
  EXPECT_EQ(explore({.ranks = 3, .messages = 2, .every = 101, .mostStates = 1000}), "");
}

} // namespace
} // namespace colldsl::test
