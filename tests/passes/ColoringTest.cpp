#include "instantiate/graphs/coloring/Distributed.h"
#include "tests/passes/Graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace colldsl {
namespace {

uint32_t roundsOf(const std::vector<uint32_t> &color) {
  return color.empty() ? 0 : *std::max_element(color.begin(), color.end()) + 1;
}

TEST(OptimalColoring, HasAsManyRoundsAsTheHighestDegree) {
  for (const auto &[name, graph] : graphsToColor()) {
    EdgeColors colors = colorOptimally(graph);
    EXPECT_EQ(clash(graph, colors.color), "") << name;
    EXPECT_EQ(colors.rounds, highestDegree(graph)) << name;
    EXPECT_LE(roundsOf(colors.color), colors.rounds) << name;
  }
}

TEST(OptimalColoring, IsTheSameEachTime) {
  for (const auto &[name, graph] : graphsToColor())
    EXPECT_EQ(colorOptimally(graph).color, colorOptimally(graph).color) << name;
}

TEST(OptimalColoring, TakesAMillionEdges) {
  for (const PortGraph &graph :
       {randomGraph(100'000, 10, 1), powerLawGraph(100'000, 1'000'000, 1)}) {
    EdgeColors colors = colorOptimally(graph);
    EXPECT_EQ(colors.rounds, highestDegree(graph));
    EXPECT_EQ(clash(graph, colors.color), "");
  }
}

TEST(GreedyColoring, IsProperAndHasLessThanTwiceTheRounds) {
  for (const auto &[name, graph] : graphsToColor()) {
    EdgeColors colors = colorGreedily(graph);
    EXPECT_EQ(clash(graph, colors.color), "") << name;
    EXPECT_LE(colors.rounds, std::max(2 * highestDegree(graph), 1u) - 1) << name;
    EXPECT_EQ(colors.rounds, roundsOf(colors.color)) << name;
  }
}

// Somewhere the greedy one has more: the optimal one is worth its name.
TEST(GreedyColoring, IsNotOptimal) {
  uint32_t worse = 0;
  for (const auto &[name, graph] : graphsToColor())
    worse += colorGreedily(graph).rounds > highestDegree(graph);
  EXPECT_GT(worse, 10u);
}

/// In MPI's order, as `torus` of the standard library has it: slot 2 d one step down in dimension
/// d, slot 2 d + 1 one step up.
PortGraph torus(const std::vector<uint32_t> &dims) {
  uint32_t ranks = 1;
  for (uint32_t dim : dims)
    ranks *= dim;
  PortGraph graph{ranks, ranks, {}, {}};
  for (uint32_t r = 0; r < ranks; ++r) {
    uint32_t stride = ranks;
    for (uint32_t dim : dims) {
      stride /= dim;
      uint32_t at = r / stride % dim;
      for (uint32_t step : {dim - 1, 1u})
        graph.add(r, r - at * stride + (at + step) % dim * stride);
    }
  }
  return graph;
}

// Dimensions of one and two included: oneself twice, and the same neighbor twice.
TEST(ColoringInOrder, FitsTori) {
  for (const std::vector<uint32_t> &dims : std::vector<std::vector<uint32_t>>{
           {8}, {2}, {1}, {4, 4}, {2, 2, 2}, {1, 5, 2}, {3, 4, 5, 2}}) {
    PortGraph graph = torus(dims);
    std::optional<EdgeColors> colors = colorInOrder(graph);
    ASSERT_TRUE(colors.has_value());
    EXPECT_EQ(colors->rounds, 2 * dims.size());
    EXPECT_EQ(clash(graph, colors->color), "");
  }
}

TEST(ColoringInOrder, IsRefusedWhereItIsNone) {
  uint32_t refused = 0;
  for (const auto &[name, graph] : graphsToColor()) {
    std::optional<EdgeColors> colors = colorInOrder(graph);
    refused += !colors.has_value();
    EXPECT_EQ(colors ? clash(graph, colors->color) : "", "") << name;
  }
  EXPECT_GT(refused, 50u);
}

/// Moves questions and answers between ranks that know only themselves.
struct Network {
  explicit Network(const PortGraph &g) : graph(g) {
    std::vector<std::pair<uint32_t, uint32_t>> degrees(std::max(g.sendPorts, g.recvPorts));
    for (size_t e = 0; e < g.numEdges(); ++e) {
      outSlot.push_back(degrees[g.from[e]].first++);
      inSlot.push_back(degrees[g.to[e]].second++);
      edgeOf[{g.from[e], outSlot[e]}] = e;
    }
    for (auto [out, in] : degrees)
      ranks.emplace_back(out, in);
  }

  void run() {
    for (uint32_t turn = 0;; ++turn) {
      struct Asked {
        uint32_t to, inEdge;
        RankColoring::Query query;
        uint32_t from;
      };
      std::vector<Asked> asked;
      for (uint32_t r = 0; r < ranks.size(); ++r)
        if (turn < ranks[r].numTurns()) {
          RankColoring::Query query = ranks[r].query(turn);
          size_t e = edgeOf.at({r, query.outEdge});
          asked.push_back({graph.to[e], inSlot[e], std::move(query), r});
        }
      if (asked.empty())
        return;
      steps += 2; // questions, answers
      std::sort(asked.begin(), asked.end(), [](const Asked &a, const Asked &b) {
        return std::tie(a.to, a.inEdge) < std::tie(b.to, b.inEdge);
      });
      for (const Asked &a : asked)
        ranks[a.from].take(a.query.outEdge, ranks[a.to].reply(a.inEdge, a.query));
    }
  }

  const PortGraph &graph;
  std::vector<RankColoring> ranks;
  std::vector<uint32_t> outSlot, inSlot; // per edge
  std::map<std::pair<uint32_t, uint32_t>, size_t> edgeOf;
  uint32_t steps = 0;
};

TEST(DistributedColoring, IsProperInFewStepsAndRounds) {
  for (const auto &[name, graph] : graphsToColor()) {
    Network network(graph);
    network.run();
    std::vector<uint32_t> color;
    for (size_t e = 0; e < graph.numEdges(); ++e) {
      color.push_back(network.ranks[graph.from[e]].outColors()[network.outSlot[e]]);
      EXPECT_EQ(color.back(), network.ranks[graph.to[e]].inColors()[network.inSlot[e]]);
    }
    EXPECT_EQ(clash(graph, color), "") << name;
    uint32_t degree = highestDegree(graph);
    EXPECT_LE(roundsOf(color), std::max(2 * degree, 1u) - 1) << name;
    EXPECT_LE(network.steps, 2 * degree) << name;
  }
}

} // namespace
} // namespace colldsl
