#include "tests/ir/Schedules.h"

#include "ir/TextForm.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

void expectRoundTrip(const Schedule &schedule) {
  std::string text = printText(schedule);
  ParsedText back = parseText(text, "test.goal");
  ASSERT_TRUE(back.errors.empty()) << describeErrors(back.errors, "test.goal") << text;
  EXPECT_EQ(difference(schedule, back.schedule), "") << text;
  EXPECT_EQ(printText(back.schedule), text);
}

TEST(Text, KeepsEverything) { expectRoundTrip(everythingSchedule()); }
TEST(Text, KeepsRing) { expectRoundTrip(ringSchedule(5)); }
TEST(Text, KeepsNothing) { expectRoundTrip({}); }

TEST(Text, KeepsRandomSchedules) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expectRoundTrip(randomSchedule(seed));
    if (HasFatalFailure() || HasNonfatalFailure())
      return;
  }
}

} // namespace
} // namespace colldsl
