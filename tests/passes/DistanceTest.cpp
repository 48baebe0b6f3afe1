#include "passes/DistanceTree.h"
#include "passes/LeaderSelection.h"
#include "tests/passes/Make.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace colldsl {
namespace {

/// 48 cores on 8 sockets and 2 boards, bound in any order.
Topology boundAnyhow(uint64_t seed) {
  std::vector<uint32_t> cores(48);
  std::iota(cores.begin(), cores.end(), 0u);
  if (seed != 0)
    std::shuffle(cores.begin(), cores.end(), std::mt19937_64(seed));
  std::string list;
  for (uint32_t core : cores)
    list += (list.empty() ? "" : ",") + std::to_string(core);
  return *Topology::make("node:1 board:2 package:4 l3:1 core:6 bind=" + list, 48);
}

using Histogram = std::map<unsigned, uint32_t>;

uint32_t coreOf(const Topology &topology, Rank rank) { return topology.place(rank).core; }

Rank rankOnCore(const Topology &topology, uint32_t core) {
  for (uint32_t r = 0; r < topology.numRanks(); ++r)
    if (coreOf(topology, Rank{r}) == core)
      return Rank{r};
  return kNoRank;
}

TEST(DistanceTree, HasTheSameEdgesForAnyBinding) {
  for (DistanceTree::Shape shape : {DistanceTree::Shape::Flat, DistanceTree::Shape::Binomial})
    for (uint32_t core : {0u, 29u}) {
      std::set<std::set<std::pair<uint32_t, uint32_t>>> treesOfCores;
      for (uint64_t seed = 0; seed < 100; ++seed) {
        Topology topology = boundAnyhow(seed);
        GivenTree tree = distanceTree(topology, rankOnCore(topology, core), shape);
        Histogram histogram;
        std::set<std::pair<uint32_t, uint32_t>> edges;
        for (uint32_t r = 0; r < 48; ++r)
          if (tree.parent[r] != kNoRank) {
            ++histogram[topology.distance(Rank{r}, tree.parent[r])];
            edges.emplace(coreOf(topology, Rank{r}), coreOf(topology, tree.parent[r]));
          }
        EXPECT_EQ(histogram, (Histogram{{1, 40}, {5, 6}, {6, 1}}));
        treesOfCores.insert(edges);
      }
      EXPECT_EQ(treesOfCores.size(), 1u);
    }
}

TEST(DistanceTree, IsThreeDeepWhereLeadersTellAll) {
  GivenTree tree = distanceTree(boundAnyhow(7), Rank{5}, DistanceTree::Shape::Flat);
  for (uint32_t r = 0; r < 48; ++r) {
    uint32_t depth = 0;
    for (Rank at{r}; tree.parent[index(at)] != kNoRank; at = tree.parent[index(at)])
      ++depth;
    EXPECT_LE(depth, 3u);
  }
}

TEST(DistanceRing, HasTheSameEdgesForAnyBinding) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Topology topology = boundAnyhow(seed);
    std::vector<Rank> order = physicalOrder(topology).ranks;
    Histogram histogram;
    for (size_t i = 0; i < order.size(); ++i) {
      ++histogram[topology.distance(order[i], order[(i + 1) % order.size()])];
      EXPECT_EQ(coreOf(topology, order[i]), i);
    }
    EXPECT_EQ(histogram, (Histogram{{1, 40}, {5, 6}, {6, 2}}));
  }
}

/// The least sum of distances over all trees (Prim).
uint64_t leastSum(const Topology &topology) {
  std::vector<unsigned> nearest(topology.numRanks(), kMaxDistance + 1);
  std::vector<bool> inside(topology.numRanks(), false);
  uint64_t sum = 0;
  uint32_t next = 0;
  for (uint32_t i = 0; i < topology.numRanks(); ++i) {
    inside[next] = true;
    sum += i == 0 ? 0 : nearest[next];
    uint32_t closest = UINT32_MAX;
    for (uint32_t r = 0; r < topology.numRanks(); ++r) {
      if (inside[r])
        continue;
      nearest[r] = std::min(nearest[r], topology.distance(Rank{r}, Rank{next}));
      if (closest == UINT32_MAX || nearest[r] < nearest[closest])
        closest = r;
    }
    next = closest;
  }
  return sum;
}

// Machines of all kinds: memory within sockets and around them, caches or none, oversubscribed.
TEST(DistanceTree, IsAMinimumSpanningTree) {
  for (const char *machine :
       {"node:3 board:2 package:2 numa:2 l3:2 core:2", "node:2 numa:2 package:2 core:3",
        "node:4 package:2 numa:1 core:4 bind=scatter", "node:2 core:2 pu:2",
        "node:5 package:1 core:3 bind=14,1,8,3,2,9,0"}) {
    for (uint32_t ranks : {1u, 2u, 5u, 7u}) {
      Topology topology = *Topology::make(machine, ranks);
      GivenTree tree = distanceTree(topology, Rank{ranks - 1}, DistanceTree::Shape::Binomial);
      uint64_t sum = 0;
      for (uint32_t r = 0; r < ranks; ++r)
        sum += tree.parent[r] == kNoRank ? 0 : topology.distance(Rank{r}, tree.parent[r]);
      EXPECT_EQ(sum, leastSum(topology)) << machine << " " << ranks;
    }
  }
}

TEST(Leaders, AreTheFirstCoresAtEachLevelAndTheNextOnesFollow) {
  Topology topology = *Topology::make("node:2 board:2 package:2 core:2 bind=15,14,13,12,11,10,9,8,"
                                      "7,6,5,4,3,2,1,0",
                                      16);
  LeaderOrder order = orderLeaders(topology, {});
  for (Level level : {Level::Node, Level::Board, Level::Socket, Level::Numa})
    for (uint32_t g = 0; g < topology.numGroups(level); ++g) {
      auto members = topology.members(level, g);
      std::vector<Rank> sorted(members.begin(), members.end());
      std::sort(sorted.begin(), sorted.end(),
                [&](Rank a, Rank b) { return order.place(level, a) < order.place(level, b); });
      for (size_t i = 1; i < sorted.size(); ++i)
        EXPECT_LT(coreOf(topology, sorted[i - 1]), coreOf(topology, sorted[i]));
    }
}

TEST(Leaders, SitNextToTheNetwork) {
  Topology topology = *Topology::make("node:2 package:2 numa:2 core:2", 16);
  LeaderSelection options;
  options.by = LeaderSelection::By::Nic;
  options.nic = {3};
  LeaderOrder order = orderLeaders(topology, options);
  auto before = [&](uint32_t a, uint32_t b) {
    return order.place(Level::Node, Rank{a}) < order.place(Level::Node, Rank{b});
  };
  EXPECT_TRUE(before(6, 7)); // beside it
  EXPECT_TRUE(before(7, 4)); // on its socket
  EXPECT_TRUE(before(4, 0)); // elsewhere
  EXPECT_TRUE(before(14, 12));
}

} // namespace
} // namespace colldsl
