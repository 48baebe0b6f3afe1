// All interleavings of a plan and the streams before and behind its runs.
#include "tests/explorer/Explorer.h"
#include "tests/explorer/StreamMachine.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

Exploration explore(const StreamScenario &scenario) {
  return Explorer(StreamMachine(scenario)).run();
}

TEST(Streams, getTheResultsOfTheirRuns) {
  for (uint8_t runs = 1; runs <= 3; ++runs)
    for (uint8_t streams : {1, 2})
      for (bool mayFail : {false, true}) {
        Exploration found = explore({runs, streams, mayFail});
        EXPECT_EQ(found.wrong, "");
        EXPECT_GT(found.ends, 0u);
        std::cout << int{runs} << " runs, " << int{streams} << " streams: " << found.states
                  << " states\n";
      }
}

struct WrongOrder {
  StreamMutant mutant;
  const char *name;
  uint8_t runs; ///< at least
  bool fails;   ///< found only where a run may fail
};
void PrintTo(const WrongOrder &wrong, std::ostream *out) { *out << wrong.name; }

class WrongStreams : public ::testing::TestWithParam<WrongOrder> {};

TEST_P(WrongStreams, areFound) {
  const WrongOrder &rule = GetParam();
  for (uint8_t runs = 1; runs <= 3; ++runs)
    for (uint8_t streams : {1, 2})
      for (bool mayFail : {false, true}) {
        bool isFound = runs >= rule.runs && (mayFail || !rule.fails);
        EXPECT_EQ(explore({runs, streams, mayFail, rule.mutant}).wrong.empty(), !isFound)
            << int{runs} << " runs, " << int{streams} << " streams";
      }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongStreams,
    ::testing::Values(
        WrongOrder{StreamMutant::StartsAtOnce, "startsAtOnce", 1, false},
        WrongOrder{StreamMutant::WaitsForTheLastRun, "waitsForTheLastRun", 1, false},
        WrongOrder{StreamMutant::CompletesBeforeCopiesEnd, "completesBeforeCopiesEnd", 1, false},
        WrongOrder{StreamMutant::EndsInTwoSteps, "endsInTwoSteps", 1, false},
        WrongOrder{StreamMutant::FailureTellsNoStream, "failureTellsNoStream", 1, true},
        WrongOrder{StreamMutant::DestructionTellsNoStream, "destructionTellsNoStream", 1, false},
        WrongOrder{StreamMutant::FreesTheWordAtOnce, "freesTheWordAtOnce", 1, false},
        WrongOrder{StreamMutant::FollowsRunsThatAreOver, "followsRunsThatAreOver", 1, false}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::test
