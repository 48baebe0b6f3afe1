// All interleavings of ranks that exchange messages, of which one fails or dies anywhere. Each rule
// that was found to be wrong once is found to be wrong here.
#include "tests/explorer/LaneScenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Lanes, ofTwoRanks) {
  EXPECT_EQ(explore(2, 1, 1).wrong, "");
  EXPECT_EQ(explore(2, 2, 1).wrong, "");
  EXPECT_EQ(explore(2, 3, 101).wrong, "");
}

TEST(Lanes, ofThreeRanks) {
  EXPECT_EQ(explore(3, 1, 1).wrong, "");
  EXPECT_EQ(explore(3, 2, 17).wrong, "");
}

struct Wrong {
  Mutant mutant;
  const char *name, *finding;
};
void PrintTo(const Wrong &wrong, std::ostream *out) { *out << wrong.name; }

class WrongRules : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongRules, areFound) {
  const Wrong &rule = GetParam();
  std::string found;
  for (size_t messages = 1; messages <= 2 && found.empty(); ++messages)
    found = explore(2, messages, 1, rule.mutant).wrong;
  EXPECT_NE(found.find(rule.finding), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongRules,
    ::testing::Values(Wrong{Mutant::CopiesWithoutClaim, "copiesWithoutClaim", "out of memory"},
                      Wrong{Mutant::CancelsDuringCopy, "cancelsDuringCopy", "out of memory"},
                      Wrong{Mutant::ForgetsAnnouncement, "forgetsAnnouncement", "into memory"},
                      Wrong{Mutant::KeepsIds, "keepsIds", "an id is not used again"},
                      Wrong{Mutant::UsesIdsAtOnce, "usesIdsAtOnce", "has no end"},
                      Wrong{Mutant::HidesLaterReports, "hidesLaterReports", "waits for good"},
                      Wrong{Mutant::WaitsForTheDead, "waitsForTheDead", "has no end"},
                      Wrong{Mutant::ToldBeforeCancelled, "toldBeforeCancelled", "memory"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::test
