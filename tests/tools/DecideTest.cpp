#include "tools/tune/Decide.h"

#include "tools/tune/StandardLibrary.h"

#include <gtest/gtest.h>

namespace colldsl::tools {
namespace {

TuningPoint point(const std::string &function, uint64_t bytes, const std::string &best,
                  double least) {
  TuningPoint p;
  p.function = function;
  p.ranks = 4;
  p.bytes = bytes;
  p.shippedNs = 100;
  p.shipped = {"shipped", {}};
  p.entries = {{*TunedCollective::parse(best), 100 / (least + 0.1)}};
  p.least = least;
  p.margin = least + 0.1;
  return p;
}

std::vector<Decision> decideAll(const std::vector<TuningPoint> &points) {
  static Result<BuiltLibrary> library = buildStandardLibrary();
  EXPECT_TRUE(library.ok()) << (library ? "" : library.message());
  return decide(points, *library->library);
}

TEST(DecideTest, sizesBetweenPointsAreSplitInTheGeometricMiddle) {
  auto decisions = decideAll({point("bcast", 4096, "bcast_chain segment=4096", 1.3),
                              point("bcast", 64, "bcast_kary k=2", 1.2),
                              point("bcast", 256, "bcast_kary k=2", 1.5),
                              point("bcast", 65536, "bcast_kary k=2", 1.5)});
  ASSERT_EQ(decisions.size(), 3u);
  EXPECT_EQ(decisions[0].use.words(), "bcast_kary k=2");
  EXPECT_EQ(decisions[0].minBytes, 0u);
  EXPECT_EQ(decisions[0].maxBytes, 1024u);
  EXPECT_DOUBLE_EQ(decisions[0].margin, 1.3) << "the least of both";
  EXPECT_EQ(decisions[1].minBytes, 1025u);
  EXPECT_EQ(decisions[1].maxBytes, 16384u);
  EXPECT_EQ(decisions[2].maxBytes, 131072u) << "not far past the last point";
}

TEST(DecideTest, withinNoiseTheRulesStay) {
  auto decisions = decideAll({point("bcast", 64, "bcast_kary k=2", 1.2),
                              point("bcast", 256, "bcast_kary k=2", 1.0),
                              point("bcast", 1024, "bcast_kary k=2", 1.2)});
  ASSERT_EQ(decisions.size(), 2u) << "a point between them does not belong to them";
  EXPECT_EQ(decisions[0].maxBytes, 128u);
  EXPECT_EQ(decisions[1].minBytes, 513u);
  EXPECT_TRUE(decideAll({point("bcast", 64, "bcast_kary k=2", 1.005)}).empty());
}

TEST(DecideTest, reductionsNeedOperatorsThatCommute) {
  EXPECT_TRUE(decideAll({point("allreduce", 64, "allreduce_ring", 2)}).front().needsCommutative);
  EXPECT_FALSE(decideAll({point("bcast", 64, "bcast_chain", 2)}).front().needsCommutative);
}

TEST(DecideTest, whereNoSizeIsKnownOneDecisionIsForAll) {
  auto decisions = decideAll({point("alltoallv", 64, "alltoallv_pairwise", 1.2),
                              point("alltoallv", 4096, "alltoallv_pairwise", 1.4)});
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].minBytes, 0u);
  EXPECT_EQ(decisions[0].maxBytes, UINT64_MAX);
  EXPECT_TRUE(decideAll({point("alltoallv", 64, "alltoallv_pairwise", 1.2),
                         point("alltoallv", 4096, "alltoallv_pairwise", 0.8)})
                  .empty())
      << "it loses somewhere";
}

TEST(RatioTest, holdsTheMedianWithItsNoise) {
  RoundTimes slow, fast;
  for (int i = 0; i < 100; ++i) {
    fast.push_back(100);
    slow.push_back(i % 10 == 0 ? 1000 : 115 + i % 10);
  }
  Ratio ratio = ratioOf(slow, fast);
  EXPECT_NEAR(ratio.median, 1.2, 0.01);
  EXPECT_GT(ratio.least, 1.15);
  EXPECT_LT(ratio.most, 1.25) << "outliers count little";
  slow.resize(4);
  EXPECT_EQ(ratioOf(slow, fast).least, 0) << "of few rounds nothing is known";
}

TEST(FieldTest, functionsOfTheRulesHaveSomethingToTry) {
  Result<BuiltLibrary> library = buildStandardLibrary();
  ASSERT_TRUE(library.ok()) << library.message();
  CostModel cost;
  Topology topology = Topology::flat(8);
  FieldMaker maker(*library->library, cost, topology);
  FieldOfPoint field = maker.make("bcast", 65536, 100);
  auto has = [&](const std::string &words) {
    return std::any_of(field.field.begin(), field.field.end(),
                       [&](const TunedCollective &what) { return what.words() == words; });
  };
  EXPECT_TRUE(has("bcast_chain segment=16384"));
  EXPECT_TRUE(has("bcast_knomial k=2") || has("bcast_binomial"));
  EXPECT_FALSE(has("bcast_chain segment=1048576")) << "as one segment, which 64 KiB is already";
  EXPECT_EQ(maker.make("bcast", 65536, 3).field.size(), 3u);
  EXPECT_FALSE(maker.make("reduce_scatter", 4096, 100).field.empty());
}

} // namespace
} // namespace colldsl::tools
