#include "tests/ir/Schedules.h"

#include "ir/Image.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

void expectRoundTrip(const Schedule &schedule) {
  auto bytes = encodeImage(schedule);
  Result<Image> image = Image::load(bytes);
  ASSERT_TRUE(image) << image.message();
  Schedule back = image->decode();
  EXPECT_EQ(difference(schedule, back), "");
  EXPECT_EQ(encodeImage(back), bytes);
}

TEST(Image, KeepsEverything) { expectRoundTrip(everythingSchedule()); }
TEST(Image, KeepsRing) { expectRoundTrip(ringSchedule(5)); }
TEST(Image, KeepsNothing) { expectRoundTrip({}); }

TEST(Image, KeepsRandomSchedules) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expectRoundTrip(randomSchedule(seed));
    if (HasFatalFailure() || HasNonfatalFailure())
      return;
  }
}

} // namespace
} // namespace colldsl
