// All interleavings of threads that fall asleep and ranks that wake them: no thread sleeps on.
#include "tests/explorer/Explorer.h"
#include "tests/explorer/SleepMachine.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

Exploration explore(uint8_t threads, bool wakersFence, SleepMutant mutant = SleepMutant::None) {
  return Explorer(SleepMachine({threads, wakersFence, mutant})).run();
}

class Sleep : public ::testing::TestWithParam<bool> {};

TEST_P(Sleep, endsWithItsNews) {
  for (uint8_t threads = 1; threads <= SleepMachine::kMaxThreads; ++threads) {
    Exploration found = explore(threads, GetParam());
    EXPECT_EQ(found.wrong, "");
    EXPECT_GT(found.ends, 0u);
    std::cout << int{threads} << " threads: " << found.states << " states\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Fences, Sleep, ::testing::Bool(), [](const auto &info) {
  return std::string(info.param ? "ofWakers" : "ofSleepers");
});

struct Wrong {
  SleepMutant mutant;
  const char *name;
  uint8_t threads; ///< at least
};
void PrintTo(const Wrong &wrong, std::ostream *out) { *out << wrong.name; }

class WrongSleep : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongSleep, isFound) {
  const Wrong &rule = GetParam();
  for (bool wakersFence : {false, true})
    for (uint8_t threads = 1; threads <= SleepMachine::kMaxThreads; ++threads)
      EXPECT_EQ(explore(threads, wakersFence, rule.mutant).wrong.empty(), threads < rule.threads)
          << int{threads} << " threads";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, WrongSleep,
    ::testing::Values(Wrong{SleepMutant::SleepsOnOneWord, "sleepsOnOneWord", 2},
                      Wrong{SleepMutant::NoBarrier, "noBarrier", 1},
                      Wrong{SleepMutant::LooksBeforeArming, "looksBeforeArming", 1},
                      Wrong{SleepMutant::EpochAfterArming, "epochAfterArming", 2},
                      Wrong{SleepMutant::CountsBeforeClearing, "countsBeforeClearing", 2}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colldsl::test
