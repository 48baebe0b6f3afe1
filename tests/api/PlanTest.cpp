// Plans of the C API.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

namespace colldsl::test {
namespace {

std::string number(auto value) { return std::to_string(value); }

std::string said(colldsl_status status, colldsl_status expected) {
  if (status != expected)
    return "status " + number(int{status}) + " (" + colldsl_last_error() + ")";
  return colldsl_last_error();
}

TEST(ApiPlan, everyType) {
  auto sum = []<typename T>(coll::Communicator &comm, T) {
    std::vector<T> x(3, T(comm.rank() + 1)), y(3);
    coll::Plan plan(comm, "allreduce");
    plan.type<T>().op(COLLDSL_PROD).count(3).input("x", x).bind("y", y).commit().run(20);
    return y == std::vector<T>(3, T(6)) ? std::string()
                                        : "wrong for type " + number(int{coll::typeOf<T>()});
  };
  EXPECT_EQ(runRanks(3,
                     [&](coll::Communicator &comm) {
                       return sum(comm, int8_t{}) + sum(comm, uint8_t{}) + sum(comm, int16_t{}) +
                              sum(comm, uint16_t{}) + sum(comm, int32_t{}) + sum(comm, uint32_t{}) +
                              sum(comm, int64_t{}) + sum(comm, uint64_t{}) + sum(comm, float{}) +
                              sum(comm, double{});
                     }),
            "");
}

TEST(ApiPlan, rulesChooseByBytes) {
  EXPECT_EQ(runRanks(4,
                     [](coll::Communicator &comm) -> std::string {
                       auto chosen = [&](uint64_t n) {
                         std::vector<int32_t> x(n, 1), y(n);
                         coll::Plan plan(comm, "allreduce");
                         plan.count(n).input("x", x).bind("y", y).commit().run(20);
                         if (y != std::vector<int32_t>(n, 4))
                           return std::string("wrong sum");
                         return plan.collective();
                       };
                       if (chosen(8) != "allreduce_recursive_multiplying")
                         return chosen(8);
                       if (chosen(1 << 20) != "allreduce_direct")
                         return chosen(1 << 20);
                       return "";
                     }),
            "");
}

/// A function of MPI with the smallest arguments that mean something.
TEST(ApiPlan, everyFunctionHasARule) {
  EXPECT_EQ(
      runRanks(
          3,
          [](coll::Communicator &comm) -> std::string {
            std::vector<int32_t> x(12, static_cast<int32_t>(comm.rank())), y(12);
            std::vector<int64_t> counts{1, 2, 1};
            std::vector<uint64_t> lengths{1, 1, 1};
            auto bind = [&](coll::Plan &plan, uint64_t inX, uint64_t inY) -> coll::Plan & {
              return plan.input("x", std::span(x).first(inX)).bind("y", std::span(y).first(inY));
            };
            struct Function {
              const char *name;
              uint64_t xBlocks, yBlocks; // of n elements
            };
            for (Function f : {Function{"reduce", 1, 1},
                               {"allreduce", 1, 1},
                               {"reduce_scatter_block", 3, 1},
                               {"scan", 1, 1},
                               {"exscan", 1, 1},
                               {"allgather", 1, 3},
                               {"alltoall", 3, 3},
                               {"gather", 1, 3},
                               {"scatter", 3, 1}})
              for (uint64_t n : {1, 4}) {
                coll::Plan plan(comm, f.name);
                bind(plan.count(n), f.xBlocks * n, f.yBlocks * n).commit().run(20);
              }
            auto own = static_cast<uint64_t>(counts[comm.rank()]);
            coll::Plan bcast(comm, "bcast"), gathered(comm, "allgatherv"),
                scattered(comm, "reduce_scatter");
            bcast.count(12).bind("buf", x).commit().run(20);
            bind(gathered.set("counts", counts), own, 4).commit().run(20);
            bind(scattered.set("counts", counts), 4, own).commit().run(20);
            coll::Plan plan(comm, "alltoallv");
            plan.input("x", x).bind("y", y).blocks("x", lengths).blocks("y", lengths);
            plan.commit().run(20);
            coll::Plan barrier(comm, "barrier");
            barrier.commit().run(20);
            return "";
          }),
      "");
}

TEST(ApiPlan, runsAgainWithOtherBuffersAndSizes) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> a(40), b(40);
                       coll::Plan plan(comm, "bcast_binomial");
                       plan.set("root", 1).count(10).bind("buf", std::span(a).first(10)).commit();
                       for (int run = 0; run < 20; ++run) {
                         std::vector<int32_t> &buffer = run % 3 == 0 ? a : b;
                         uint64_t n = run % 2 == 0 ? 10 : 40;
                         buffer.assign(40, comm.rank() == 1 ? run : -1);
                         plan.count(n).bind("buf", std::span(buffer).first(n)).run(20);
                         for (uint64_t i = 0; i < 40; ++i)
                           if (buffer[i] != (i < n || comm.rank() == 1 ? run : -1))
                             return "run " + number(run) + ": element " + number(i) + " is " +
                                    number(buffer[i]);
                       }
                       return "";
                     }),
            "");
}

TEST(ApiPlan, inPlace) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> y(3, -1);
                       y[comm.rank()] = static_cast<int32_t>(comm.rank());
                       coll::Plan plan(comm, "allgather_ring");
                       plan.inPlace().count(1).bind("y", y).commit().run(20);
                       return y == std::vector<int32_t>{0, 1, 2} ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, blocksLieAtTheirDisplacements) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       int32_t me = static_cast<int32_t>(comm.rank());
                       std::vector<int32_t> x{me, me + 10, me + 20}, y(6, -1);
                       std::vector<uint64_t> send{1, 2}, sendAt{0, 1};
                       std::vector<uint64_t> receive(2, me == 0 ? 1 : 2), receiveAt{4, 1};
                       coll::Plan plan(comm, "alltoallv_rotated");
                       plan.input("x", x).bind("y", y).blocks("x", send, sendAt);
                       plan.blocks("y", receive, receiveAt).commit().run(20);
                       std::vector<int32_t> expected =
                           me == 0 ? std::vector<int32_t>{-1, 1, -1, -1, 0, -1}
                                   : std::vector<int32_t>{-1, 11, 21, -1, 10, 20};
                       return y == expected ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, lengthsTravelWithCapacityBlocks) {
  EXPECT_EQ(
      runRanks(
          3,
          [](coll::Communicator &comm) -> std::string {
            std::vector<int32_t> x(4, 7), y(12);
            std::vector<uint64_t> own{comm.rank() + 1};
            coll::Plan plan(comm, "gatherv_binomial_bounded");
            plan.count(4).input("x", x).bind("y", y).blocks("x", own);
            plan.commit().run(20);
            if (comm.rank() != 0)
              return "";
            return plan.blocks("y", 3) == std::vector<uint64_t>{1, 2, 3} ? "" : "wrong lengths";
          }),
      "");
}

/// A periodic ring of ranks; of two ranks, both neighbours are the same one, told apart by keys.
TEST(ApiPlan, graphsWithKeys) {
  for (uint32_t ranks : {1u, 2u, 5u})
    EXPECT_EQ(
        runRanks(ranks,
                 [](coll::Communicator &comm) -> std::string {
                   auto me = static_cast<int32_t>(comm.rank());
                   auto size = static_cast<int32_t>(comm.size());
                   int32_t left = (me + size - 1) % size, right = (me + 1) % size;
                   std::vector<int32_t> peers{left, right}, send{me * 10, me * 10 + 1}, recv(2, -1);
                   std::vector<int64_t> out{0, 1}, in{1, 0};
                   coll::Graph graph(comm, peers, out, peers, in);
                   coll::Plan plan(comm, "neighbor_alltoall");
                   plan.set("g", graph).count(1).input("send", send).bind("recv", recv);
                   plan.commit().run(20);
                   return recv == std::vector<int32_t>{left * 10 + 1, right * 10}
                              ? ""
                              : number(recv[0]) + ", " + number(recv[1]);
                 }),
        "")
        << ranks;
}

/// The three-step algorithm asks for the edges of other ranks: they are gathered.
TEST(ApiPlan, globalGraphs) {
  EXPECT_EQ(runRanks(5,
                     [](coll::Communicator &comm) -> std::string {
                       auto me = static_cast<int32_t>(comm.rank());
                       std::vector<int32_t> to{(me + 1) % 5, (me + 3) % 5},
                           from{(me + 2) % 5, (me + 4) % 5}, send{me, me + 100}, recv(2, -1);
                       coll::Graph graph(comm, to, from);
                       coll::Plan plan(comm, "neighbor_alltoall_three_step");
                       plan.set("g", graph).count(1).input("send", send).bind("recv", recv);
                       plan.commit().run(20);
                       return recv == std::vector<int32_t>{(me + 2) % 5 + 100, (me + 4) % 5}
                                  ? ""
                                  : number(recv[0]) + ", " + number(recv[1]);
                     }),
            "");
}

TEST(ApiPlan, peersThatAreNone) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> peers{-1, comm.rank() == 0 ? 1 : 0}, x{5}, y{-1, -1};
                       coll::Graph graph(comm, peers, peers);
                       coll::Plan plan(comm, "neighbor_allgather");
                       plan.set("g", graph).count(1).input("x", x).bind("y", y).commit().run(20);
                       return y == std::vector<int32_t>{-1, 5} ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, anErrorOfOneRankFailsAllRanks) {
  auto expect = [](const std::string &why, auto describe) {
    EXPECT_EQ(runRanks(3,
                       [&](coll::Communicator &comm) -> std::string {
                         std::vector<int32_t> x(4), y(12);
                         coll::Plan plan(comm, "allgather_ring");
                         plan.count(4).input("x", x).bind("y", y);
                         describe(comm, plan);
                         std::string found =
                             said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                         return found.find(why) != std::string::npos ? "" : found;
                       }),
              "");
  };
  using Comm = coll::Communicator;
  using coll::Plan;
  expect("'allgather_ring' has no parameter 'rooot'", [](Comm &, Plan &p) { p.set("rooot", 1); });
  expect("'allgather_ring' has no buffer 'z'; it has 'x', 'y'", [](Comm &, Plan &p) {
    std::vector<int> z;
    p.bind("z", z);
  });
  expect("'x' needs 20 bytes, 16 were bound: it has 5 elements of i32",
         [](Comm &, Plan &p) { p.count(5); });
  expect("'x' has no blocks of its own lengths", [](Comm &, Plan &p) {
    uint64_t one = 1;
    p.blocks("x", {&one, 1});
  });
}

TEST(ApiPlan, oneRankWithoutAPlanFailsAll) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> buffer(4);
                       coll::Plan plan(comm, "bcast_binomial");
                       plan.set("root", comm.rank() == 1 ? 99 : 0).count(4).bind("buf", buffer);
                       std::string why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                       if (why.find("'root' is rank 99, but there are only 3 ranks") ==
                           std::string::npos)
                         return why;
                       plan.set("root", 0).commit().run(20); // mended
                       return "";
                     }),
            "");
}

/// What only binding can find out, as the lengths of blocks that each rank knows alone.
TEST(ApiPlan, noRankCommitsIfOneCannotBind) {
  for (int round = 0; round < 10; ++round)
    EXPECT_EQ(
        runRanks(4,
                 [](coll::Communicator &comm) -> std::string {
                   std::vector<int32_t> x(4), y(4);
                   std::vector<uint64_t> counts(4, 1);
                   coll::Plan plan(comm, "alltoallv");
                   plan.input("x", x).blocks("x", counts).blocks("y", counts);
                   plan.bind("y", std::span(y).first(comm.rank() == 1 ? 3 : 4));
                   std::string why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                   if (why.find("rank 1: 'y' has 12 bytes, it needs 16") == std::string::npos &&
                       comm.rank() != 1)
                     return why;
                   plan.bind("y", y).commit().run(20);
                   return "";
                 }),
        "");
}

TEST(ApiPlan, aFastRankDoesNotSpoilTheCommitOfOthers) {
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(runRanks(4,
                       [](coll::Communicator &comm) -> std::string {
                         std::vector<int32_t> buffer(4);
                         coll::Plan plan(comm, "bcast_chain");
                         plan.count(4).bind("buf", buffer).commit();
                         if (comm.rank() == 0)
                           plan.start(); // and is destroyed
                         return "";
                       }),
              "");
}

TEST(ApiPlan, commitMovesOtherPlans) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> a(300'000, 1), b(300'000), x(1), y(1);
                       coll::Plan big(comm, "allreduce"), small(comm, "allreduce");
                       big.count(a.size()).input("x", a).bind("y", b).commit();
                       small.count(1).input("x", x).bind("y", y);
                       big.start();
                       if (comm.rank() == 0)
                         small.commit();
                       big.wait(20);
                       if (comm.rank() == 1)
                         small.commit();
                       small.run(20);
                       return b == std::vector<int32_t>(300'000, 2) ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, testMovesOtherPlans) {
  EXPECT_EQ(runRanks(4,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> x(300'000, 1), y(300'000), z(300'000);
                       coll::Plan a(comm, "allreduce"), b(comm, "allreduce");
                       a.count(x.size()).input("x", x).bind("y", y).commit();
                       b.count(x.size()).input("x", x).bind("y", z).commit();
                       a.start();
                       b.start();
                       coll::Plan &first = comm.rank() % 2 == 0 ? a : b;
                       coll::Plan &second = comm.rank() % 2 == 0 ? b : a;
                       auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                       for (coll::Plan *plan : {&first, &second})
                         while (!plan->test())
                           if (std::chrono::steady_clock::now() > end)
                             return "it does not end";
                       return y == z ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, memoryThatMustNotBeWritten) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> x(4), y(4);
                       coll::Plan plan(comm, "allreduce");
                       plan.count(4).input("x", x).input("y", y);
                       std::string why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                       if (why != "'y' is written, but the memory for it is constant")
                         return why;
                       plan.bind("y", x);
                       why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                       if (why != "'x' and 'y' overlap; is the form in place meant?")
                         return why;
                       plan.inPlace();
                       why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                       if (why != "'x' lies in 'y' in place; it has no memory of its own")
                         return why;
                       plan.forget("x").commit().run(20);
                       return "";
                     }),
            "");
}

TEST(ApiPlan, aForgottenSettingHasNoEffect) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> buffer(4);
                       coll::Plan plan(comm, "bcast_binomial");
                       plan.count(4).bind("buf", buffer).bind("buffer", buffer).set("rooot", 1);
                       colldsl_plan_commit(plan.get());
                       plan.forget("buffer").forget("rooot").commit().run(20);
                       return "";
                     }),
            "");
}

TEST(ApiPlan, theNumberOfElementsHasOneWayIn) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> buffer(4);
                       coll::Plan plan(comm, "bcast_binomial");
                       plan.set("n", 4).bind("buf", buffer);
                       std::string why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                       return why == "'n' is the number of elements; set it as the count" ? ""
                                                                                          : why;
                     }),
            "");
}

TEST(ApiPlan, blocksInPlaceNeedNoLengthsOfTheirOwn) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> x(1, 7), y(3, 7);
                       std::vector<uint64_t> one{1}, counts(3, 1);
                       coll::Plan plan(comm, "gatherv_linear");
                       plan.inPlace();
                       if (comm.rank() == 0)
                         plan.bind("y", y).blocks("y", counts);
                       else
                         plan.input("x", x).blocks("x", one);
                       plan.commit().run(20);
                       return y == std::vector<int32_t>(3, 7) ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, aGlobalGraphMayBeMendedByOneRank) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       auto me = static_cast<int32_t>(comm.rank());
                       std::vector<int32_t> to{(me + 1) % 3}, from{(me + 2) % 3}, none, x{me},
                           y{-1};
                       coll::Graph right(comm, to, from), wrong(comm, none, from);
                       coll::Plan plan(comm, "neighbor_allgather_three_step");
                       plan.count(1).input("x", x).bind("y", y);
                       plan.set("g", me == 1 ? wrong : right);
                       if (colldsl_plan_commit(plan.get()) == COLLDSL_OK)
                         return "it was committed";
                       if (me == 1)
                         plan.set("g", right);
                       plan.commit().run(20);
                       return y[0] == from[0] ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, everythingInItsTime) {
  EXPECT_EQ(
      runRanks(1,
               [](coll::Communicator &comm) -> std::string {
                 std::vector<int32_t> x(3), y(3);
                 coll::Plan plan(comm, "allreduce");
                 const colldsl_status state = COLLDSL_ERROR_STATE;
                 std::string told = said(colldsl_plan_start(plan.get()), state) + "; " +
                                    said(colldsl_plan_wait(plan.get(), 1), state);
                 plan.count(3).input("x", x).bind("y", y).commit();
                 told +=
                     "; " + said(colldsl_plan_commit(plan.get()), state) + "; " +
                     said(colldsl_plan_set_type(plan.get(), COLLDSL_F64), state) + "; " +
                     said(colldsl_plan_set_int(plan.get(), "root", 1), state) + "; " +
                     said(colldsl_plan_bind(plan.get(), "q", x.data(), 1), COLLDSL_ERROR_ARGUMENT);
                 return told == "the plan is not committed; the plan is not committed; the plan "
                                "is committed; the plan is committed; the plan is committed; "
                                "'allreduce_recursive_doubling' has no buffer 'q'; it has 'x', 'y'"
                            ? ""
                            : told;
               }),
      "");
}

TEST(ApiPlan, aRunThatTakesTooLongFailsOnAllRanks) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan barrier(comm, "barrier"), late(comm, "barrier");
                       barrier.commit();
                       late.commit();
                       late.run(20);
                       if (comm.rank() == 0) {
                         barrier.start();
                         std::string why =
                             said(colldsl_plan_wait(barrier.get(), 0.2), COLLDSL_ERROR_TIMEOUT);
                         late.run(20);
                         return why.find("timed out after 0.2 s") == 0 ? "" : why;
                       }
                       late.run(20); // now the other has given up
                       // A signal that was sent before may still end the first run.
                       if (colldsl_plan_start(barrier.get()) == COLLDSL_OK &&
                           colldsl_plan_wait(barrier.get(), 20) == COLLDSL_OK)
                         colldsl_plan_start(barrier.get());
                       std::string why =
                           said(colldsl_plan_wait(barrier.get(), 20), COLLDSL_ERROR_RUN);
                       return why.find("timed out after 0.2 s") == 0 ? "" : why;
                     }),
            "");
}

TEST(ApiPlan, aCancelledRunIsDrained) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> buffer(4);
                       coll::Plan plan(comm, "bcast_binomial");
                       plan.set("root", 0).count(4).bind("buf", buffer).commit();
                       for (int run = 0; run < 10; ++run) {
                         buffer.assign(4, comm.rank() == 0 ? run : -1);
                         plan.start();
                         bool gaveUp = comm.rank() == 1 && run % 2 == 0 && !plan.test();
                         if (gaveUp) {
                           plan.cancel();
                           std::string why =
                               said(colldsl_plan_wait(plan.get(), 20), COLLDSL_ERROR_CANCELLED);
                           if (why != "the run was cancelled")
                             return why;
                           continue;
                         }
                         plan.wait(20);
                         if (buffer != std::vector<int32_t>(4, run))
                           return "run " + number(run) + " is wrong";
                       }
                       return "";
                     }),
            "");
}

TEST(ApiPlan, progressMovesPlansWithoutAWait) {
  EXPECT_EQ(runRanks(3,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> buffer(1000, comm.rank() == 0 ? 1 : 0);
                       coll::Plan bcast(comm, "bcast_chain"), barrier(comm, "barrier");
                       bcast.count(1000).bind("buf", buffer).commit();
                       barrier.commit();
                       bcast.start();
                       // Rank 1 only makes progress, which rank 2's data needs.
                       auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                       if (comm.rank() == 1)
                         while (buffer[999] != 1 && std::chrono::steady_clock::now() < end)
                           comm.progress();
                       else
                         bcast.wait(20);
                       barrier.run(20);
                       bcast.wait(20);
                       return buffer == std::vector<int32_t>(1000, 1) ? "" : "wrong";
                     }),
            "");
}

TEST(ApiPlan, aWaitThatEndsEarlyLeavesTheRun) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan barrier(comm, "barrier"), go(comm, "barrier");
                       barrier.commit();
                       go.commit();
                       if (comm.rank() == 0) {
                         barrier.start();
                         if (barrier.testFor(0.01))
                           return "over before rank 1 started";
                       }
                       go.run(20);
                       if (comm.rank() == 1)
                         barrier.start();
                       return barrier.testFor(20) ? "" : "not over";
                     }),
            "");
}

TEST(ApiPlan, manyThreadsMayWait) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan barrier(comm, "barrier");
                       barrier.commit();
                       for (int run = 0; run < 50; ++run) {
                         barrier.start();
                         std::atomic<int> failed{0};
                         auto wait = [&] {
                           failed += colldsl_plan_wait(barrier.get(), 20) != COLLDSL_OK;
                         };
                         std::thread other(wait);
                         wait();
                         other.join();
                         if (failed != 0)
                           return "run " + number(run);
                       }
                       return "";
                     }),
            "");
}

} // namespace
} // namespace colldsl::test
