#include "tools/run/Barrier.h"

#include "verifier/Verifier.h"

#include <gtest/gtest.h>

namespace colldsl::tools {
namespace {

TEST(Barrier, NoRankFinishesBeforeAllHaveStarted) {
  for (uint32_t ranks = 1; ranks <= 33; ++ranks) {
    Schedule schedule = barrierSchedule(ranks);
    schedule.hasContract = schedule.synchronizes = true;
    proof::VerifyReport report = proof::verify(schedule, {Sizes()});
    EXPECT_TRUE(report.proved()) << describe(report, schedule);
  }
}

TEST(Barrier, TakesLogarithmicallyManyRounds) {
  EXPECT_EQ(barrierSchedule(1).numOps(), 0u);
  EXPECT_EQ(barrierSchedule(2).ranks[0].size(), 2u);
  EXPECT_EQ(barrierSchedule(9).ranks[0].size(), 8u);
}

} // namespace
} // namespace colldsl::tools
