// All interleavings of ranks that exchange messages, of which one fails or dies anywhere. Each rule
// that was found to be wrong once is found to be wrong here.
#include "tests/explorer/LaneMachine.h"
#include "tests/explorer/Scenarios.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Lanes, ofTwoRanks) {
  EXPECT_EQ(explore<LaneMachine>(2, 1, 1), "");
  EXPECT_EQ(explore<LaneMachine>(2, 2, 1), "");
  EXPECT_EQ(explore<LaneMachine>(2, 3, 101), "");
}

TEST(Lanes, ofThreeRanks) {
  EXPECT_EQ(explore<LaneMachine>(3, 1, 1), "");
  EXPECT_EQ(explore<LaneMachine>(3, 2, 17), "");
}

template <typename Machine> struct Wrong {
  typename Machine::Mutant mutant;
  const char *name, *finding;
};
template <typename Machine> void PrintTo(const Wrong<Machine> &wrong, std::ostream *out) {
  *out << wrong.name;
}
template <typename Machine> void expectFound(const Wrong<Machine> &rule) {
  std::string found;
  for (size_t messages = 1; messages <= 2 && found.empty(); ++messages)
    found = explore<Machine>(2, messages, 1, rule.mutant);
  EXPECT_NE(found.find(rule.finding), std::string::npos) << found;
}
constexpr auto nameOf = [](const auto &info) { return std::string(info.param.name); };

using WrongLane = Wrong<LaneMachine>;
using OfLanes = LaneMachine::Mutant;
class WrongLanes : public ::testing::TestWithParam<WrongLane> {};
TEST_P(WrongLanes, areFound) { expectFound(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongLanes,
    ::testing::Values(WrongLane{OfLanes::CopiesWithoutClaim, "copiesWithoutClaim", "out of memory"},
                      WrongLane{OfLanes::CancelsDuringCopy, "cancelsDuringCopy", "out of memory"},
                      WrongLane{OfLanes::ForgetsAnnouncement, "forgetsAnnouncement", "into memory"},
                      WrongLane{OfLanes::KeepsIds, "keepsIds", "an id is not used again"},
                      WrongLane{OfLanes::UsesIdsAtOnce, "usesIdsAtOnce", "has no end"},
                      WrongLane{OfLanes::HidesLaterReports, "hidesLaterReports", "waits for good"},
                      WrongLane{OfLanes::WaitsForTheDead, "waitsForTheDead", "has no end"},
                      WrongLane{OfLanes::ToldBeforeCancelled, "toldBeforeCancelled", "memory"}),
    nameOf);

} // namespace
} // namespace colldsl::test
