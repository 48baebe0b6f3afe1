// Ranks that make one plan of different parameters: which differs, and what both sides have. On one
// node the commit finds it, over several the first run.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace colldsl::test {
namespace {

/// Where ranks sit: "0": on one node, else so many on each.
class Disagreement : public ::testing::TestWithParam<const char *> {
protected:
  using Body = std::function<std::string(coll::Communicator &)>;

  void SetUp() override {
    if (isOneNode())
      return;
    setenv("COLLDSL_RANKS_PER_NODE", GetParam(), 1);
    std::string complaint = over(2, [](coll::Communicator &) { return std::string(); });
    if (complaint.find("libfabric") != std::string::npos)
      GTEST_SKIP() << complaint;
  }
  void TearDown() override { unsetenv("COLLDSL_RANKS_PER_NODE"); }

  static bool isOneNode() { return GetParam()[0] == '0'; }

  static std::string over(uint32_t ranks, const Body &body) {
    return launch(ranks, [&](const colldsl_bootstrap &bootstrap) -> std::string {
      try {
        coll::Context context;
        coll::LaunchedCommunicator comm(context, bootstrap);
        return body(comm);
      } catch (const std::exception &e) {
        return e.what();
      }
    });
  }

  /// What all ranks report of a plan, one a line.
  template <typename Describe>
  static std::string reports(const char *name, uint32_t ranks, Describe describe) {
    return over(ranks, [&](coll::Communicator &comm) -> std::string {
      std::vector<int32_t> x(4, 1), y(4);
      coll::Plan plan(comm, name);
      plan.count(4).bind("y", y).input("x", x);
      describe(plan, comm.rank());
      plan.commit();
      if (isOneNode())
        return "was committed";
      plan.run(20);
      return "was run";
    });
  }

  /// Rank 1 has another one than ranks 0 and 2: all ranks name it, and both sides. Over several
  /// nodes they may name other pairs.
  template <typename Describe>
  static void expectOnAll(const std::string &what, const std::string &ofOthers,
                          const std::string &ofRank1, const char *name, Describe describe) {
    std::string told = reports(name, 3, describe);
    std::string first = "rank 0 and rank 1 disagree on the " + what + ": " + ofOthers +
                        " on rank 0, " + ofRank1 + " on rank 1";
    std::string second = "rank 1 and rank 2 disagree on the " + what + ": " + ofRank1 +
                         " on rank 1, " + ofOthers + " on rank 2";
    EXPECT_EQ(count(told, first) + (isOneNode() ? 0 : count(told, second)), 3u) << told;
  }
  static size_t count(const std::string &text, const std::string &words) {
    size_t found = 0;
    for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
      ++found;
    return found;
  }
};
INSTANTIATE_TEST_SUITE_P(Nodes, Disagreement, ::testing::Values("0", "1", "2"),
                         [](const auto &info) {
                           return std::string(info.param) == "0"   ? "one"
                                  : std::string(info.param) == "1" ? "ofOneRank"
                                                                   : "ofTwoRanks";
                         });

TEST_P(Disagreement, aboutTheType) {
  expectOnAll("type", "i32", "f32", "allreduce_ring", [](coll::Plan &plan, uint32_t rank) {
    coll::check(colldsl_plan_set_type(plan.get(), rank == 1 ? COLLDSL_F32 : COLLDSL_I32));
  });
}

TEST_P(Disagreement, aboutTheSize) {
  std::vector<int32_t> x(5, 1), y(5);
  expectOnAll("size 'n'", "4", "5", "allreduce_ring", [&](coll::Plan &plan, uint32_t rank) {
    if (rank == 1)
      plan.count(5).input("x", x).bind("y", y);
  });
}

TEST_P(Disagreement, aboutAValue) {
  expectOnAll("value of 'op'", "sum", "max", "allreduce_ring", [](coll::Plan &plan, uint32_t rank) {
    plan.op(rank == 1 ? COLLDSL_MAX : COLLDSL_SUM);
  });
}

// The function that both named is chosen by its size: the size is the reason.
TEST_P(Disagreement, aboutWhatChoosesTheCollective) {
  std::vector<int32_t> x(1 << 20), y(1 << 20);
  std::string told = reports("allreduce", 3, [&](coll::Plan &plan, uint32_t rank) {
    uint64_t n = rank == 1 ? x.size() : 1;
    plan.count(n).input("x", std::span(x).first(n)).bind("y", std::span(y).first(n));
  });
  EXPECT_NE(told.find("disagree on the size 'n': 1 on rank 0, 1048576 on rank 1"),
            std::string::npos)
      << told;
}

// Ranks that only send end their first run before they hear of it.
TEST_P(Disagreement, aboutTheRoot) {
  std::string told = over(3, [&](coll::Communicator &comm) -> std::string {
    std::vector<int32_t> buf(4);
    coll::Plan plan(comm, "bcast_binomial");
    plan.count(4).bind("buf", buf).set("root", comm.rank() == 1 ? 2 : 0).commit();
    plan.run(20);
    return "was run";
  });
  size_t named = count(told, "disagree on the value of 'root': 0 on rank 0, 2 on rank 1") +
                 count(told, "disagree on the value of 'root': 2 on rank 1, 0 on rank 2");
  EXPECT_GT(named, 0u) << told;
}

TEST_P(Disagreement, aboutTheCollective) {
  std::string told = over(2, [](coll::Communicator &comm) -> std::string {
    coll::Plan plan(comm, comm.rank() == 0 ? "barrier_dissemination" : "barrier_ring");
    plan.commit();
    plan.run(20);
    return "was run";
  });
  EXPECT_NE(told.find("rank 0 and rank 1 disagree on the collective: barrier_dissemination on "
                      "rank 0, barrier_ring on rank 1"),
            std::string::npos)
      << told;
}

TEST_P(Disagreement, isNoneWhereADefaultIsGiven) {
  EXPECT_EQ(over(3,
                 [](coll::Communicator &comm) -> std::string {
                   std::vector<int32_t> buf(4, static_cast<int32_t>(comm.rank()));
                   coll::Plan plan(comm, "bcast_binomial");
                   plan.count(4).bind("buf", buf);
                   if (comm.rank() == 1)
                     plan.set("root", 0);
                   plan.commit().run(20);
                   plan.run(20);
                   return buf == std::vector<int32_t>(4, 0) ? "" : "wrong data";
                 }),
            "");
}

// Rank 0 receives from all others, which have no edges in common.
TEST_P(Disagreement, isNoneWhereDegreesDiffer) {
  EXPECT_EQ(over(3,
                 [](coll::Communicator &comm) -> std::string {
                   std::vector<int32_t> to, from;
                   if (comm.rank() == 0)
                     from = {1, 2};
                   else
                     to = {0};
                   coll::Graph graph(comm, to, from);
                   std::vector<int32_t> x{static_cast<int32_t>(comm.rank())}, y(from.size(), -1);
                   coll::Plan plan(comm, "neighbor_allgather");
                   plan.set("g", graph).count(1).input("x", x).bind("y", y).commit();
                   plan.run(20);
                   return y == from ? "" : "wrong data";
                 }),
            "");
}

// Each rank sends rank + 1 elements to each, and knows no other lengths than its own.
TEST_P(Disagreement, isNoneWhereLengthsDiffer) {
  EXPECT_EQ(over(3,
                 [](coll::Communicator &comm) -> std::string {
                   uint64_t me = comm.rank();
                   std::vector<uint64_t> out(3, me + 1), in{1, 2, 3};
                   std::vector<int32_t> x(3 * (me + 1), static_cast<int32_t>(me)), y(6, -1);
                   coll::Plan plan(comm, "alltoallv");
                   plan.blocks("x", out).blocks("y", in).input("x", x).bind("y", y).commit();
                   plan.run(20);
                   return y == std::vector<int32_t>{0, 1, 1, 2, 2, 2} ? "" : "wrong data";
                 }),
            "");
}

} // namespace
} // namespace colldsl::test
