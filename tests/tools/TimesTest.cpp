#include "driver/Lists.h"
#include "tools/run/CallTimes.h"

#include <gtest/gtest.h>

namespace colldsl::tools {
namespace {

TEST(Times, TheSlowestRankOfEachCallCounts) {
  Times times = summarize({{5, 1, 9}, {2, 7, 3}});
  EXPECT_EQ(times.min, 5);
  EXPECT_EQ(times.median, 7);
  EXPECT_EQ(times.max, 9);
}

TEST(Times, Percentiles) {
  std::vector<int64_t> ns;
  for (int i = 10; i >= 1; --i)
    ns.push_back(i);
  Times times = summarize({ns});
  EXPECT_EQ(times.median, 5);
  EXPECT_EQ(times.p90, 9);
  Times one = summarize({{4}});
  EXPECT_EQ(one.min, 4);
  EXPECT_EQ(one.median, 4);
  EXPECT_EQ(one.p90, 4);
}

TEST(Times, ThreeDigits) {
  using driver::timeWord;
  EXPECT_EQ(timeWord(0), "0 ns");
  EXPECT_EQ(timeWord(912), "912 ns");
  EXPECT_EQ(timeWord(999), "999 ns");
  EXPECT_EQ(timeWord(1000), "1.00 us");
  EXPECT_EQ(timeWord(12345), "12.3 us");
  EXPECT_EQ(timeWord(999'400), "999 us");
  EXPECT_EQ(timeWord(999'600), "1.00 ms");
  EXPECT_EQ(timeWord(9'996'000), "10.0 ms");
  EXPECT_EQ(timeWord(2'500'000'000), "2.50 s");
}

} // namespace
} // namespace colldsl::tools
