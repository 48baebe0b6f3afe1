#include "passes/BestTree.h"
#include "passes/TreeRebalance.h"
#include "tests/passes/Make.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace colldsl {
namespace {

// The one cost model is the simulator, of schedules and of programs.
TEST(CostModel, HasTheTimesOfTheSimulator) {
  EXPECT_EQ(timeForTest(*makeForTest("bcast_binomial", 1024, 2)), 55420u);
  EXPECT_EQ(timeForTest(*makeForTest("barrier_dissemination", 1024, 0)), 55000u);
  InstantiateRequest request;
  request.collective = stdlibForTests().program().find("bcast_binomial", DeclKind::Collective);
  request.ranks = 1024;
  request.elements = 2;
  Result<uint64_t> time = CostModel().makespanNs(stdlibForTests().program(), request);
  ASSERT_TRUE(time.ok()) << time.message();
  EXPECT_EQ(*time, 55420u);
}

TEST(CostModel, CountsDistancesAndReceiveSlots) {
  Topology nodes = *Topology::make("node:2 core:2", 4);
  CostModel cost;
  cost.machine.distances[7].L = 90'000;
  Schedule flat = *makeForTest("bcast_flat", 4, 2, {}, &nodes);
  EXPECT_EQ(*cost.makespanNs(flat, sizesForTest(flat), nodes), 90'000u + 3000 + 42 + 2 * 1500);
  Schedule all = *makeForTest("gather_linear", 4, 2000, {}, &nodes);
  cost.receiveSlots = 1;
  EXPECT_GT(*cost.makespanNs(all, sizesForTest(all), nodes), 3 * 90'000u);
}

TEST(CostModel, ReportsSchedulesThatCannotRun) {
  Schedule schedule = *makeForTest("bcast_binomial", 2, 2);
  for (Dag &dag : schedule.ranks)
    for (Op &op : dag.ops)
      if (op.kind == OpKind::Send)
        op.message = MessageId{77};
  EXPECT_FALSE(CostModel().makespanNs(schedule, sizesForTest(schedule), Topology::flat(2)).ok());
}

/// The best time over all trees in which a subtree is a set: the first child and the size of its
/// set.
uint64_t bestByBruteForce(const LogGop &model, TreeUse use, uint32_t n, uint64_t bytes) {
  if (n < 2)
    return 0;
  uint64_t best = UINT64_MAX;
  for (uint32_t below = 1; below < n; ++below) {
    uint64_t sent = use == TreeUse::Broadcast ? bytes : bytes * below;
    uint64_t rest = below + 1 == n
                        ? 0
                        : model.nextSendNs(sent) + bestByBruteForce(model, use, n - below, bytes);
    uint64_t told = model.endToEndNs(sent) + bestByBruteForce(model, use, below, bytes);
    best = std::min(best, std::max(rest, told));
  }
  return best;
}

std::vector<LogGop> models() {
  PerByte one = PerByte::fromNs(1), thirty = PerByte::fromNs(30);
  constexpr uint64_t kNoLimit = UINT64_MAX;
  return {{},
          {1, 1, 1, PerByte(), PerByte(), kNoLimit},
          {10'000, 100, 50, one, PerByte(), kNoLimit},
          {10'000, 100, 50, one, one, kNoLimit},
          {10, 100, 500, thirty, PerByte(), kNoLimit}};
}

TEST(BestTree, IsAsGoodAsAllTrees) {
  for (const LogGop &model : models())
    for (TreeUse use : {TreeUse::Broadcast, TreeUse::Scatter})
      for (uint64_t bytes : {1, 8, 1000}) {
        BestTree tree(model, use, 14, bytes);
        for (uint32_t n = 1; n <= 14; ++n)
          EXPECT_EQ(tree.timeNs(n), bestByBruteForce(model, use, n, bytes)) << n;
      }
}

TEST(BestTree, ReachesEachRankOnceAfterItsParent) {
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

// A star, rebalanced, ends within 5% of the best tree; copies are free.
TEST(TreeRebalance, MakesTheBestTreeOfAStar) {
  for (const LogGop &model : models())
    for (const char *name : {"bcast_flat", "scatter_linear"})
      for (uint32_t ranks : {2u, 3u, 16u, 64u, 200u})
        for (uint64_t elements : {2u, 256u}) {
          Schedule star = *makeForTest(name, ranks, elements);
          CostModel cost{MachineModel::flat(model), {}, 0};
          std::vector<Sizes> sizes = sizesForTest(star);
          Topology flat = Topology::flat(ranks);
          Result<DagOutcome> made = rebalance(star, {}, {flat, sizes, cost});
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
