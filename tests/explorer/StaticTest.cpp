// All interleavings of static messages on one machine: each comes once and whole, and none of its
// bytes moves after a cancel.
#include "tests/explorer/Explorer.h"
#include "tests/explorer/StaticMachine.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

std::vector<StaticScenario> allScenarios(StaticMutant mutant = StaticMutant::None) {
  std::vector<StaticScenario> all;
  for (bool mayFail : {false, true})
    for (bool mayFallBack : {false, true})
      for (auto [hasCanary, endsInCanary] :
           {std::pair(false, false), std::pair(true, false), std::pair(true, true)})
        all.push_back({3, true, hasCanary, endsInCanary, mayFail, mayFallBack, mutant});
  for (bool mayFail : {false, true})
    all.push_back({3, false, false, false, mayFail, false, mutant});
  return all;
}

TEST(StaticMessages, comeOnceAndWhole) {
  for (const StaticScenario &scenario : allScenarios()) {
    Exploration found = Explorer(StaticMachine(scenario)).run();
    EXPECT_EQ(found.wrong, "");
    EXPECT_GT(found.ends, 0u);
    std::cout << found.states << " states\n";
  }
}

struct Wrong {
  StaticMutant mutant;
  const char *name;
};
void PrintTo(const Wrong &wrong, std::ostream *out) { *out << wrong.name; }

class WrongStaticMessages : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongStaticMessages, areFound) {
  bool isFound = false;
  for (const StaticScenario &scenario : allScenarios(GetParam().mutant))
    isFound |= !Explorer(StaticMachine(scenario)).run().wrong.empty();
  EXPECT_TRUE(isFound);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongStaticMessages,
    ::testing::Values(Wrong{StaticMutant::LeavesByStore, "leavesByStore"},
                      Wrong{StaticMutant::LastBytesFirst, "lastBytesFirst"},
                      Wrong{StaticMutant::CanaryBehindRtr, "canaryBehindRtr"},
                      Wrong{StaticMutant::LooksAtCanaryAlone, "looksAtCanaryAlone"},
                      Wrong{StaticMutant::WritesWithoutClaim, "writesWithoutClaim"},
                      Wrong{StaticMutant::CancelsWithoutWaiting, "cancelsWithoutWaiting"},
                      Wrong{StaticMutant::WaitsForTheDead, "waitsForTheDead"},
                      Wrong{StaticMutant::GetsWithoutClaim, "getsWithoutClaim"},
                      Wrong{StaticMutant::RequestsBeforeBuffer, "requestsBeforeBuffer"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::test
