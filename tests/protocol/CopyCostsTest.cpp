// Which of two ways of copying is chosen.
#include "protocol/local/CopyCosts.h"

#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

using namespace protocol;

CopyCost costOf(uint64_t bytes, CopyCost::Case rewritten, CopyCost::Case unchanged) {
  return {bytes, rewritten, unchanged};
}

// At 8 KiB it loses a factor of 2 and gains one of 1.5; at 16 KiB it loses 1.2 and gains 2.
TEST(CopyCosts, ASingleCopyIsMadeWhereItGainsMoreThanItLoses) {
  std::vector<CopyCost> costs = {costOf(8 << 10, {2000, 1000}, {1000, 1500}),
                                 costOf(16 << 10, {3600, 3000}, {1500, 3000}),
                                 costOf(32 << 10, {5000, 5000}, {2000, 6000})};
  EXPECT_EQ(singleCopyFrom(costs), uint64_t{16} << 10);
  costs[0].rewritten.singleCopyNs = 1100;
  EXPECT_EQ(singleCopyFrom(costs), uint64_t{8} << 10);
}

// Together it loses 1.5 at 8 KiB, and 1.1 at 16 KiB.
TEST(CopyCosts, ANearTieIsForTheSingleCopy) {
  std::vector<CopyCost> costs = {costOf(8 << 10, {3000, 2000}, {1000, 1000}),
                                 costOf(16 << 10, {3300, 2000}, {2000, 3000})};
  EXPECT_EQ(singleCopyFrom(costs), uint64_t{16} << 10);
  EXPECT_EQ(singleCopyFrom(costs, 1), std::nullopt);
}

// The product of both cases is 1.5 at 8 KiB, and 2 at 16 KiB.
TEST(CopyCosts, ASingleCopyMayHaveToGainMore) {
  std::vector<CopyCost> costs = {costOf(8 << 10, {1000, 1000}, {1000, 1500}),
                                 costOf(16 << 10, {1000, 1000}, {1000, 2000})};
  EXPECT_EQ(singleCopyFrom(costs, 1.5), uint64_t{8} << 10);
  EXPECT_EQ(singleCopyFrom(costs, 1.6), uint64_t{16} << 10);
  EXPECT_EQ(singleCopyFrom(costs, 2.1), std::nullopt);
}

TEST(CopyCosts, ASingleCopyThatLosesAtTheEndIsNotMade) {
  std::vector<CopyCost> costs = {costOf(8 << 10, {1, 2}, {1, 2}), costOf(16 << 10, {4, 2}, {3, 2})};
  EXPECT_EQ(singleCopyFrom(costs), std::nullopt);
  EXPECT_EQ(singleCopyFrom({}), std::nullopt);
}

TEST(CopyCosts, PiecesElsewhereCostLikeCalls) {
  LocalOptions options;
  options.singleCopyMinBytes = 16 << 10;
  EXPECT_TRUE(options.isWorthSingleCopy(16 << 10, 1));
  EXPECT_FALSE(options.isWorthSingleCopy((16 << 10) - 1, 1));
  EXPECT_FALSE(options.isWorthSingleCopy(16 << 10, 2));
  EXPECT_TRUE(options.isWorthSingleCopy(24 << 10, 2));
  EXPECT_FALSE(options.isWorthSingleCopy(256 << 10, 64));
}

} // namespace
} // namespace colldsl::test
