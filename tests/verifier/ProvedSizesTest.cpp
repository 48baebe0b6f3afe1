// Sizes that a schedule is said to be proved for: each of them must be proved alone, too.
#include "verifier/ProvedSizes.h"
#include "tests/verifier/ScheduleBuilder.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

/// Elements from floor((beginScale * n + beginOffset) / denominator) to the same of `end`.
Slice positions(BufferId buffer, int64_t beginScale, int64_t beginOffset, int64_t endScale,
                int64_t endOffset, uint32_t denominator = 1) {
  Slice slice;
  slice.buffer = buffer;
  slice.beginScale = beginScale;
  slice.beginOffset = beginOffset;
  slice.endScale = endScale;
  slice.endOffset = endOffset;
  slice.denominator = denominator;
  return slice;
}

bool isProvedAt(const Schedule &schedule, uint64_t n) {
  Sizes sizes;
  sizes.elements = n;
  return verify(schedule, {sizes}).proved();
}

/// Asks for the sizes up to `max`; each that is claimed must be proved alone, and n is claimed.
SizeClass expectClaimsHold(ScheduleBuilder &b, uint64_t max) {
  Schedule &schedule = b.schedule();
  schedule.sizeClass = {b.n(), 0, max};
  std::optional<ProvedDomain> proved = provedSizes(schedule);
  EXPECT_TRUE(proved);
  if (!proved)
    return {};
  SizeClass claimed = proved->sizes;
  EXPECT_TRUE(claimed.contains(b.n()));
  for (uint64_t n = claimed.min; n <= claimed.max; ++n)
    EXPECT_TRUE(isProvedAt(schedule, n))
        << "n = " << n << " of " << claimed.min << ".." << claimed.max;
  return claimed;
}

TEST(ProvedSizes, denominatorsOfPromisesCount) {
  ScheduleBuilder b(1, 10);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  b.ensure(0, positions(y, 4, 0, 5, 0, 5), 0, positions(x, 5, 0, 6, 0, 6));
  b.ensure(0, b.blockOf(y, 0), 0, b.blockOf(x, 0));
  expectClaimsHold(b, 60);
}

TEST(ProvedSizes, allSizesOfPartsThatAreRight) {
  ScheduleBuilder b(1, 10);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  b.copy(0, {b.blockOf(x, 0)}, {b.blockOf(y, 0)});
  for (int64_t i = 0; i < 5; ++i)
    b.ensure(0, positions(y, i, 0, i + 1, 0, 5), 0, positions(x, i, 0, i + 1, 0, 5));
  SizeClass claimed = expectClaimsHold(b, 60);
  EXPECT_EQ(claimed.min, 0u);
  EXPECT_EQ(claimed.max, 60u);
}

/// Two elements of a temporary, 10 and n, whose writers do not wait for each other.
TEST(ProvedSizes, raceBetweenTwoSizesWithout) {
  ScheduleBuilder b(1, 15);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  BufferId t = b.temp(0, "t", 3);
  b.followsData = false;
  b.copy(0, {b.elementsOf(x, 0, 1)}, {b.elementsOf(t, 10, 11)});
  b.copy(0, {b.elementsOf(x, 1, 2)}, {positions(t, 1, 0, 1, 1)});
  b.copy(0, {b.elementsOf(x, 0, 1)}, {b.elementsOf(y, 0, 1)});
  b.ensure(0, b.elementsOf(y, 0, 1), 0, b.elementsOf(x, 0, 1));
  EXPECT_EQ(expectClaimsHold(b, 60).min, 11u);
}

TEST(ProvedSizes, overwrittenBetweenTwoSizesWithout) {
  ScheduleBuilder b(1, 15);
  BufferId x = b.param("x", BufferRole::In), y = b.param("y", BufferRole::Out);
  BufferId t = b.temp(0, "t", 3);
  OpId first = b.copy(0, {b.elementsOf(x, 0, 1)}, {b.elementsOf(t, 10, 11)});
  OpId second = b.copy(0, {b.elementsOf(x, 1, 2)}, {positions(t, 1, 0, 1, 1)}, {requires_(first)});
  b.copy(0, {b.elementsOf(t, 10, 11)}, {b.elementsOf(y, 0, 1)}, {requires_(second)});
  b.ensure(0, b.elementsOf(y, 0, 1), 0, b.elementsOf(x, 0, 1));
  EXPECT_EQ(expectClaimsHold(b, 60).min, 11u);
}

/// y[0] is the sum of x[0] and x[10], y[1] that of x[n] and x[0]: one reduction at n == 10,
/// combined in two ways.
TEST(ProvedSizes, sameReductionBetweenTwoSizesWithout) {
  ScheduleBuilder b(1, 15);
  b.schedule().deterministic = true;
  BufferId x = b.param("x", BufferRole::In, 3), y = b.param("y", BufferRole::Out);
  Slice first = b.elementsOf(x, 0, 1), fixed = b.elementsOf(x, 10, 11);
  Slice moving = positions(x, 1, 0, 1, 1);
  b.copy(0, {first}, {b.elementsOf(y, 0, 1)});
  b.combine(0, fixed, b.elementsOf(y, 0, 1));
  b.copy(0, {moving}, {b.elementsOf(y, 1, 2)});
  b.combine(0, first, b.elementsOf(y, 1, 2));
  b.ensureReduce(0, b.elementsOf(y, 0, 1), {{Rank{0}, first}, {Rank{0}, fixed}});
  b.ensureReduce(0, b.elementsOf(y, 1, 2), {{Rank{0}, first}, {Rank{0}, moving}});
  EXPECT_EQ(expectClaimsHold(b, 60).min, 11u);
}

/// One promise has no bytes at n == 5, the other one none at n == 10.
TEST(ProvedSizes, otherPromisesAreEmpty) {
  ScheduleBuilder b(1, 5);
  BufferId x = b.param("x", BufferRole::In, 4), y = b.param("y", BufferRole::Out, 4);
  b.copy(0, {b.elementsOf(x, 0, 10)}, {b.elementsOf(y, 0, 10)});
  b.ensure(0, positions(y, 0, 0, 2, -10), 0, positions(x, 0, 0, 2, -10));
  b.ensure(0, positions(y, 4, -20, 2, 0), 0, positions(x, 4, -20, 2, 0));
  expectClaimsHold(b, 10);
}

} // namespace
} // namespace colldsl::test
