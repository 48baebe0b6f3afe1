// All interleavings of ranks that exchange messages, of which one fails or dies anywhere. Each rule
// that was found to be wrong once is found to be wrong here.
#include "tests/explorer/LocalMachine.h"
#include "tests/explorer/Scenarios.h"

#include <array>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

TEST(Local, ofTwoRanks) {
  EXPECT_EQ(explore<LocalMachine>(2, 1, 1), "");
  constexpr std::array kOneEndCopies = {Way::Read, Way::Written, Way::Fragments};
  constexpr auto kNone = LocalMachine::Mutant::None;
  EXPECT_EQ(explore<LocalMachine>(2, 2, 1, kNone, 0, kOneEndCopies), "");
  EXPECT_EQ(explore<LocalMachine>(2, 2, 31), "");
  EXPECT_EQ(explore<LocalMachine>(2, 3, 101, kNone, 0, kOneEndCopies), "");
}

TEST(Local, ofThreeRanks) {
  EXPECT_EQ(explore<LocalMachine>(3, 1, 1), "");
  EXPECT_EQ(explore<LocalMachine>(3, 2, 41), "");
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

using WrongOfLocal = Wrong<LocalMachine>;
using OfLocal = LocalMachine::Mutant;
class WrongLocal : public ::testing::TestWithParam<WrongOfLocal> {};
TEST_P(WrongLocal, areFound) { expectFound(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongLocal,
    ::testing::Values(
        WrongOfLocal{OfLocal::CopiesWithoutClaim, "copiesWithoutClaim", "out of memory"},
        WrongOfLocal{OfLocal::CancelsDuringCopy, "cancelsDuringCopy", "out of memory"},
        WrongOfLocal{OfLocal::KeepsRtrs, "keepsRtrs", "into memory"},
        WrongOfLocal{OfLocal::KeepsIds, "keepsIds", "an id is not used again"},
        WrongOfLocal{OfLocal::UsesIdsAtOnce, "usesIdsAtOnce", "has no end"},
        WrongOfLocal{OfLocal::HidesLaterReports, "hidesLaterReports", "waits for good"},
        WrongOfLocal{OfLocal::WaitsForTheDead, "waitsForTheDead", "has no end"},
        WrongOfLocal{OfLocal::ToldBeforeCancelled, "toldBeforeCancelled", "memory"},
        WrongOfLocal{OfLocal::CancelsBetweenParts, "cancelsBetweenParts", "memory"},
        WrongOfLocal{OfLocal::EndsUnasked, "endsUnasked", "an id is not used again"}),
    nameOf);

} // namespace
} // namespace colldsl::test
