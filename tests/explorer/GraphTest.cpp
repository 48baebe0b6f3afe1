// All interleavings of the streams of ranks that launch the graphs of a plan, for all orders of the
// run that was captured.
#include "tests/explorer/Explorer.h"
#include "tests/explorer/GraphMachine.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

constexpr GraphPattern kPatterns[] = {GraphPattern::Exchange, GraphPattern::Two,
                                      GraphPattern::Ring};

Exploration explore(const GraphScenario &scenario) {
  return Explorer(GraphMachine(scenario)).run();
}

TEST(Graphs, giveTheResultsOfTheirLaunches) {
  for (GraphPattern pattern : kPatterns)
    for (bool mayDie : {false, true}) {
      const uint8_t launches = mayDie ? 2 : 3;
      Exploration found = explore({pattern, launches, mayDie});
      EXPECT_EQ(found.wrong, "");
      EXPECT_GT(found.ends, 0u);
      std::cout << "pattern " << int(pattern) << (mayDie ? ", a rank may die: " : ": ")
                << found.states << " states\n";
    }
}

struct WrongGraph {
  GraphMutant mutant;
  const char *name;
  std::vector<GraphPattern> patterns; ///< in which it is found
  bool dies = false;                  ///< found only where a rank may die
};
void PrintTo(const WrongGraph &wrong, std::ostream *out) { *out << wrong.name; }

class WrongGraphs : public ::testing::TestWithParam<WrongGraph> {};

TEST_P(WrongGraphs, areFound) {
  const WrongGraph &rule = GetParam();
  for (GraphPattern pattern : kPatterns) {
    bool isFound = std::ranges::find(rule.patterns, pattern) != rule.patterns.end();
    EXPECT_EQ(explore({pattern, 3, rule.dies, rule.mutant}).wrong.empty(), !isFound)
        << "pattern " << int(pattern);
  }
}

const std::vector<GraphPattern> kAll = {std::begin(kPatterns), std::end(kPatterns)};

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongGraphs,
    ::testing::Values(
        WrongGraph{GraphMutant::KeepsTheWordOfAnOffer, "keepsTheWordOfAnOffer", kAll},
        WrongGraph{GraphMutant::KeepsTheWordOfAnAnswer, "keepsTheWordOfAnAnswer", kAll},
        WrongGraph{GraphMutant::SignalsBeforePacking, "signalsBeforePacking", kAll},
        WrongGraph{GraphMutant::AnswersBeforeCopying, "answersBeforeCopying", kAll},
        WrongGraph{GraphMutant::WholeOpsInOrder,
                   "wholeOpsInOrder",
                   {GraphPattern::Exchange, GraphPattern::Ring}},
        WrongGraph{GraphMutant::OrdersOfDifferentRuns, "ordersOfDifferentRuns", kAll},
        WrongGraph{GraphMutant::DeathReleasesNothing, "deathReleasesNothing", kAll, true},
        WrongGraph{GraphMutant::ReleasesTheSignalledHalf, "releasesTheSignalledHalf", kAll, true}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::test
