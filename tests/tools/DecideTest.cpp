#include "select/Decision.h"

#include "select/Candidate.h"
#include "select/RoundTimes.h"
#include "tools/tune/BuiltLibrary.h"

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
  Result<std::vector<Decision>> decisions = decide(points, *library->library);
  EXPECT_TRUE(decisions.ok());
  return decisions.take();
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

// A winner at one size alone is none of a function that is decided for all sizes.
TEST(DecideTest, pointsWithDecisionsAreThoseThatADecisionServes) {
  MachineProfile profile;
  profile.points = {
      point("bcast", 64, "bcast_kary k=2", 1.2), point("bcast", 256, "bcast_chain", 1),
      point("bcast", 65536, "bcast_chain", 1.2), point("alltoallv", 64, "alltoallv_pairwise", 1.2),
      point("alltoallv", 4096, "alltoallv_pairwise", 0.8)};
  profile.decisions = decideAll(profile.points);
  EXPECT_EQ(profile.decisions.size(), 2u);
  std::vector<const TuningPoint *> decided = decidedPoints(profile);
  ASSERT_EQ(decided.size(), 2u);
  EXPECT_EQ(decided[0], &profile.points[0]);
  EXPECT_EQ(decided[1], &profile.points[2]);
}

TEST(DecideTest, aDecisionHasTheNoiseOfItsPoints) {
  TuningPoint first = point("bcast", 64, "bcast_kary k=2", 1.2), second = first, far = first;
  first.spread = 0.125;
  second.bytes = 128;
  second.drift = 0.375;
  far.bytes = 1 << 20;
  far.entries = {{{"bcast_chain", {}}, 10}};
  auto decisions = decideAll({first, second, far});
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_DOUBLE_EQ(decisions[0].noise, 0.375);
  EXPECT_DOUBLE_EQ(decisions[1].noise, 0);
}

TuningPoint learned(const std::string &function, uint64_t bytes, const std::string &best,
                    double least) {
  TuningPoint p = point(function, bytes, best, least);
  p.isLearned = true;
  return p;
}

TEST(DecideTest, whatAJobLearnedCountsForHalfTheBytesUpToTwice) {
  auto decisions = decideAll({learned("bcast", 1024, "bcast_kary k=2", 1.3),
                              learned("bcast", 1536, "bcast_kary k=2", 1.2),
                              learned("bcast", 65536, "bcast_kary k=2", 1.4)});
  ASSERT_EQ(decisions.size(), 2u) << "as one, sizes between 3072 and 32768 would be in it";
  EXPECT_EQ(decisions[0].minBytes, 512u);
  EXPECT_EQ(decisions[0].maxBytes, 3072u);
  EXPECT_DOUBLE_EQ(decisions[0].margin, 1.3);
  EXPECT_TRUE(decisions[0].isLearned);
  EXPECT_EQ(decisions[1].minBytes, 32768u);
  EXPECT_EQ(decisions[1].maxBytes, 131072u);
  decisions = decideAll(
      {point("bcast", 1024, "bcast_kary k=2", 1.3), learned("bcast", 1536, "bcast_kary k=2", 1.2)});
  ASSERT_EQ(decisions.size(), 2u) << "what is learned is another kind of evidence";
  EXPECT_EQ(decisions[0].minBytes, 0u);
}

TEST(DecideTest, whatIsLearnedIsAddedBehindWhatIsThere) {
  static Result<BuiltLibrary> library = buildStandardLibrary();
  ASSERT_TRUE(library.ok());
  MachineProfile profile;
  profile.points = {point("bcast", 64, "bcast_chain", 1.5)};
  Decision byHand;
  byHand.function = "bcast";
  byHand.ranks = 4;
  byHand.use = {"bcast_flat", {}};
  byHand.isVerified = true;
  profile.decisions = {byHand};
  std::vector<TuningPoint> points = {learned("bcast", 64, "bcast_kary k=2", 3),
                                     learned("bcast", 8, "bcast_kary k=2", 2),
                                     learned("bcast", 512, "bcast_kary k=2", 1)};
  EXPECT_EQ(*addLearned(profile, points, *library->library), 2u);
  ASSERT_EQ(profile.points.size(), 3u);
  EXPECT_EQ(profile.points[0].entries.front().what.name, "bcast_chain") << "a sweep knows better";
  ASSERT_EQ(profile.decisions.size(), 2u);
  EXPECT_TRUE(profile.decisions[0].isVerified) << "the first that fits counts";
  EXPECT_EQ(profile.decisions[1].minBytes, 4u);
  EXPECT_EQ(profile.decisions[1].maxBytes, 16u);
  EXPECT_EQ(*addLearned(profile, points, *library->library), 0u);
  EXPECT_EQ(profile.decisions.size(), 2u);
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

TEST(CandidatesTest, functionsOfTheRulesHaveSomethingToTry) {
  Result<BuiltLibrary> library = buildStandardLibrary();
  ASSERT_TRUE(library.ok()) << library.message();
  CostModel cost;
  Topology topology = Topology::flat(8);
  Result<CandidateFinder> finder = CandidateFinder::of(*library->library, cost, topology);
  ASSERT_TRUE(finder.ok()) << finder.message();
  CandidatesOfPoint all = finder->make("bcast", 65536, {.most = 100});
  auto has = [&](const std::string &words) {
    return std::any_of(all.candidates.begin(), all.candidates.end(),
                       [&](const TunedCollective &what) { return what.words() == words; });
  };
  EXPECT_TRUE(has("bcast_chain segment=16384"));
  EXPECT_TRUE(has("bcast_knomial k=2") || has("bcast_binomial"));
  EXPECT_FALSE(has("bcast_chain segment=1048576")) << "as one segment, which 64 KiB is already";
  EXPECT_EQ(finder->make("bcast", 65536, {.most = 3}).candidates.size(), 3u);
  EXPECT_FALSE(finder->make("reduce_scatter", 4096, {.most = 100}).candidates.empty());
  CandidateLimits near;
  near.most = 100;
  near.reach = 1;
  near.needsModel = true;
  EXPECT_LT(finder->make("bcast", 65536, near).candidates.size(), all.candidates.size());
  near.mostOps = 0;
  EXPECT_TRUE(finder->make("bcast", 65536, near).candidates.empty()) << "the model knows nothing";
  near.needsModel = false;
  EXPECT_FALSE(finder->make("bcast", 65536, near).candidates.empty());
}

} // namespace
} // namespace colldsl::tools
