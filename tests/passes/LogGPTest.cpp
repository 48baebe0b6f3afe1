#include "passes/BestTree.h"
#include "passes/TreeRebalance.h"
#include "tests/passes/Make.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace colldsl {
namespace {

// The figures of LogGOPSim with its default parameters.
TEST(LogGP, HasTheTimesOfLogGOPSim) {
  EXPECT_EQ(timeForTest(*makeForTest("bcast_binomial", 1024, 2)), 55420u);
  EXPECT_EQ(timeForTest(*makeForTest("bcast_binomial", 1024, 250'000)), 59'999'940u + 55'000u);
  EXPECT_EQ(timeForTest(*makeForTest("barrier_dissemination", 1024, 0)), 55000u);
}

TEST(LogGP, SpacesSendsByTheGapAndReceivesByTheirBytes) {
  LogGP model{.L = 100, .o = 10, .g = 50, .G = 2, .copyNsPerKiB = 0};
  uint64_t bytes = 8, arrival = model.o + model.L, busy = model.o + 7 * model.G;
  uint64_t send = model.g + 7 * model.G;
  EXPECT_EQ(timeForTest(*makeForTest("bcast_flat", 4, 2), model), 2 * send + arrival + busy);
  EXPECT_EQ(timeForTest(*makeForTest("gather_linear", 4, 2), model), arrival + busy + 2 * send);
  EXPECT_EQ(model.sendNs(bytes), send);
  EXPECT_EQ(model.messageNs(bytes), arrival + busy);
}

TEST(LogGP, TellsASchedule_ThatWaitsForItself) {
  Schedule schedule = *makeForTest("bcast_binomial", 2, 2);
  for (Dag &dag : schedule.ranks)
    for (Op &op : dag.ops)
      if (op.kind == OpKind::Send)
        op.message = MessageId{77};
  EXPECT_FALSE(LogGPCost(LogGP()).makespanNs(schedule, sizesForTest(schedule)).ok());
}

/// The best time over all trees in which a subtree is a set: whoever is first told how many.
uint64_t bestByBruteForce(const LogGP &model, TreeUse use, uint32_t n, uint64_t bytes) {
  if (n < 2)
    return 0;
  uint64_t best = UINT64_MAX;
  for (uint32_t below = 1; below < n; ++below) {
    uint64_t sent = use == TreeUse::Broadcast ? bytes : bytes * below;
    uint64_t rest =
        below + 1 == n ? 0 : model.sendNs(sent) + bestByBruteForce(model, use, n - below, bytes);
    uint64_t told = model.messageNs(sent) + bestByBruteForce(model, use, below, bytes);
    best = std::min(best, std::max(rest, told));
  }
  return best;
}

std::vector<LogGP> models() {
  return {{},
          {.L = 1, .o = 1, .g = 1, .G = 0, .copyNsPerKiB = 0},
          {.L = 10'000, .o = 100, .g = 50, .G = 1, .copyNsPerKiB = 0},
          {.L = 10, .o = 100, .g = 500, .G = 30, .copyNsPerKiB = 0}};
}

TEST(BestTree, IsAsGoodAsAllTrees) {
  for (const LogGP &model : models())
    for (TreeUse use : {TreeUse::Broadcast, TreeUse::Scatter})
      for (uint64_t bytes : {1, 8, 1000}) {
        BestTree tree(model, use, 14, bytes);
        for (uint32_t n = 1; n <= 14; ++n)
          EXPECT_EQ(tree.timeNs(n), bestByBruteForce(model, use, n, bytes)) << n;
      }
}

TEST(BestTree, TellsEverybodyOnceAfterWhoTellsThem) {
  for (TreeUse use : {TreeUse::Broadcast, TreeUse::Scatter}) {
    std::vector<bool> knows(300, false);
    knows[0] = true;
    for (const BestTree::Edge &edge : BestTree({}, use, 300, 64).edges()) {
      EXPECT_TRUE(knows[edge.parent]);
      EXPECT_FALSE(knows[edge.child]);
      knows[edge.child] = true;
    }
    EXPECT_EQ(std::count(knows.begin(), knows.end(), true), 300);
  }
}

// A star, rebalanced, ends within 5% of the best tree; copies are free here.
TEST(TreeRebalance, MakesTheBestTreeOfAStar) {
  for (LogGP model : models())
    for (const char *name : {"bcast_flat", "scatter_linear"})
      for (uint32_t ranks : {2u, 3u, 16u, 64u, 200u})
        for (uint64_t elements : {2u, 256u}) {
          Schedule star = *makeForTest(name, ranks, elements);
          model.copyNsPerKiB = 0;
          TreeRebalance options;
          options.model = model;
          std::vector<Sizes> sizes = sizesForTest(star);
          Topology flat = Topology::flat(ranks);
          Result<DagOutcome> made = rebalance(star, options, {flat, sizes});
          ASSERT_TRUE(made.ok());
          TreeUse use = name[0] == 'b' ? TreeUse::Broadcast : TreeUse::Scatter;
          uint64_t best = BestTree(model, use, ranks, elements * 4).timeNs(ranks);
          uint64_t now = timeForTest(made->schedule, model);
          EXPECT_LE(now * 100, best * 105) << name << " " << ranks << " " << elements;
          EXPECT_LE(now, timeForTest(star, model));
          EXPECT_EQ(refusalForTest(made->schedule), "");
        }
}

} // namespace
} // namespace colldsl
