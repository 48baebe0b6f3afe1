#include "instantiate/dependence/ValidityRange.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

/// floor((scale * n + offset) / denominator) <= of another, decided at n, holds for
/// every kept size; checked one by one.
void checkKept(int64_t s1, int64_t o1, uint32_t d1, int64_t s2, int64_t o2, uint32_t d2,
               uint64_t n) {
  ValidityRange range(n);
  Position a = range.at(s1, o1, d1), b = range.at(s2, o2, d2);
  if (a.at > b.at)
    return;
  range.keepLessEqual(a, b);
  SizeClass kept = range.sizeClass();
  ASSERT_TRUE(kept.contains(n));
  for (uint64_t m = kept.min; m <= std::min<uint64_t>(kept.max, 200); ++m)
    ASSERT_LE(positionAt(s1, o1, d1, m), positionAt(s2, o2, d2, m))
        << s1 << "n+" << o1 << "/" << d1 << " <= " << s2 << "n+" << o2 << "/" << d2 << " at " << m;
}

TEST(ValidityRange, KeepsOnlySizesForWhichTheOrderHolds) {
  for (int64_t s1 : {0, 1, 2, 7})
    for (int64_t o1 : {-3, 0, 5, 20})
      for (uint32_t d1 : {1u, 2u, 3u, 5u})
        for (int64_t s2 : {0, 1, 3, 7})
          for (int64_t o2 : {-1, 0, 4, 30})
            for (uint32_t d2 : {1u, 2u, 4u})
              for (uint64_t n : {0u, 1u, 6u, 25u, 100u})
                checkKept(s1, o1, d1, s2, o2, d2, n);
}

TEST(ValidityRange, CutsOfOneKindKeepAllSizes) {
  ValidityRange range(1000);
  range.keepLessEqual(range.at(2, 0, 7), range.at(3, 0, 7));
  range.keepLessEqual(range.at(0, 0, 1), range.at(1, 0, 1));
  EXPECT_EQ(range.sizeClass().min, 1u);
  EXPECT_EQ(range.sizeClass().max, UINT64_MAX);
}

TEST(ValidityRange, HalfUpToAConstantEndsWhereItMust) {
  ValidityRange range(1000);
  range.keepLessEqual(range.at(1, 0, 2), range.constant(700)); // floor(n/2) <= 700
  EXPECT_EQ(range.sizeClass().max, 1400u);
  EXPECT_EQ(range.sizeClass().min, 1u);
}

TEST(ValidityRange, PinKeepsThisSizeAlone) {
  ValidityRange range(12);
  range.pin();
  EXPECT_TRUE(range.sizeClass().contains(12));
  EXPECT_FALSE(range.sizeClass().contains(11));
  EXPECT_FALSE(range.sizeClass().contains(13));
}

} // namespace
} // namespace colldsl
