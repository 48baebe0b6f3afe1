// Graphs as users see them: made by all ranks together, with rounds or without.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

#include <random>

namespace colldsl::test {
namespace {

struct Edges {
  std::vector<int32_t> to, from;
};

/// Everybody knows all edges here, in one order, and picks its own.
Edges edgesOf(int32_t me, int32_t ranks, uint64_t seed) {
  std::mt19937_64 engine(seed);
  Edges mine;
  for (uint64_t left = 1 + engine() % 40; left > 0; --left) {
    auto from = static_cast<int32_t>(engine() % ranks), to = static_cast<int32_t>(engine() % ranks);
    if (from == me)
      mine.to.push_back(to);
    if (to == me)
      mine.from.push_back(from);
  }
  return mine;
}

std::string allgathers(const coll::Communicator &comm, const coll::Graph &graph,
                       const Edges &edges) {
  std::vector<int32_t> x{static_cast<int32_t>(comm.rank())}, y(edges.from.size(), -1);
  coll::Plan plan(comm, "neighbor_allgather");
  plan.set("g", graph).count(1).input("x", x).bind("y", y).commit();
  plan.run(20);
  plan.run(20);
  return y == edges.from ? "" : "wrong data";
}

std::string ordersGraphs(const colldsl_bootstrap &bootstrap, const colldsl_options &options,
                         bool expectRounds) {
  try {
    coll::Context context(options);
    coll::LaunchedCommunicator comm(context, bootstrap);
    for (uint64_t seed = 0; seed < 10; ++seed) {
      Edges edges =
          edgesOf(static_cast<int32_t>(bootstrap.rank), static_cast<int32_t>(bootstrap.size), seed);
      coll::Graph graph(comm, edges.to, edges.from);
      if (expectRounds ? graph.rounds() < edges.to.size() || graph.rounds() == 0
                       : graph.rounds() > 0)
        return std::to_string(graph.rounds()) + " rounds";
      if (std::string wrong = allgathers(comm, graph, edges); !wrong.empty())
        return wrong;
    }
    return "";
  } catch (const std::exception &e) {
    return e.what();
  }
}

TEST(ApiGraph, hasRoundsByDefault) {
  colldsl_options gathered = COLLDSL_OPTIONS_INIT, asked = gathered, off = gathered;
  asked.max_gathered_edges = 1;
  off.no_graph_order = 1;
  for (uint32_t ranks : {1u, 2u, 5u})
    for (const colldsl_options &options : {gathered, asked, off})
      EXPECT_EQ(launch(ranks,
                       [&](const colldsl_bootstrap &bootstrap) {
                         return ordersGraphs(bootstrap, options, options.no_graph_order == 0);
                       }),
                "")
          << ranks;
  EXPECT_EQ(colldsl_graph_rounds(nullptr), 0u);
}

/// All send to ranks 0 and 1, two each.
TEST(ApiGraph, hasAsManyRoundsAsTheBusiestRankHasEdges) {
  EXPECT_EQ(runRanks(6,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> to{0, 1}, from;
                       for (int32_t r = 0; r < 6 && comm.rank() < 2; ++r)
                         from.push_back(r);
                       coll::Graph graph(comm, to, from);
                       return graph.rounds() == 6 ? "" : std::to_string(graph.rounds());
                     }),
            "");
}

TEST(ApiGraph, oneRankWithoutAGraphFailsAll) {
  EXPECT_EQ(
      runRanks(3,
               [](coll::Communicator &comm) -> std::string {
                 int32_t peer = comm.rank() == 1 ? 7 : static_cast<int32_t>(comm.rank());
                 colldsl_graph *graph = nullptr;
                 colldsl_status status =
                     colldsl_graph_create(comm.get(), 1, &peer, nullptr, 1, &peer, nullptr, &graph);
                 std::string why = colldsl_last_error();
                 if (status != (comm.rank() == 1 ? COLLDSL_ERROR_ARGUMENT : COLLDSL_ERROR_SETUP))
                   return "status " + std::to_string(status);
                 if (why.find("destinations[0] is 7, but there are 3 ranks") == std::string::npos)
                   return why;
                 coll::Graph mended(comm, {&peer, 0}, {&peer, 0});
                 return allgathers(comm, mended, {});
               }),
      "");
}

} // namespace
} // namespace colldsl::test
