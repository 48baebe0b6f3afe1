// What is refused because it would mean something else than it says, or what belongs to another
// process.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

/// What a call says that has to fail with this status.
std::string said(colldsl_status status, colldsl_status expected) {
  if (status != expected)
    return "status " + std::to_string(status) + " (" + colldsl_last_error() + ")";
  return colldsl_last_error();
}

/// What the first commit says of a plan of one rank.
template <typename Describe> std::string refusal(const char *name, Describe describe) {
  return runRanks(1, [&](coll::Communicator &comm) {
    std::vector<int32_t> memory(8), other(8);
    coll::Plan plan(comm, name);
    describe(plan, memory, other);
    return said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
  });
}

TEST(ApiRefusals, anIntForAnOperatorAndTheOtherWay) {
  using Ints = std::vector<int32_t>;
  EXPECT_NE(refusal("bcast_binomial",
                    [](coll::Plan &plan, Ints &buffer, Ints &) {
                      plan.count(8).bind("buf", buffer).op(COLLDSL_PROD, "root");
                    })
                .find("'root' of 'bcast_binomial' takes a rank, not the reduction prod"),
            std::string::npos);
  EXPECT_NE(refusal("allreduce_ring",
                    [](coll::Plan &plan, Ints &x, Ints &y) {
                      plan.count(8).bind("x", x).bind("y", y).set("op", 3);
                    })
                .find("'op' of 'allreduce_ring' takes a reduction, not the int 3"),
            std::string::npos);
}

TEST(ApiRefusals, blocksThatAreWrittenAndOverlap) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<int32_t> x(8, 7), y(8);
                       colldsl_graph *graph = nullptr;
                       const int32_t self[] = {0, 0};
                       coll::check(colldsl_graph_create(comm.get(), 2, self, nullptr, 2, self,
                                                        nullptr, &graph));
                       coll::Plan plan(comm, "neighbor_alltoallv");
                       coll::check(colldsl_plan_set_graph(plan.get(), "g", graph));
                       colldsl_graph_destroy(graph);
                       std::vector<uint64_t> lengths{2, 2}, same{1, 1}, apart{4, 0}, over{3, 2};
                       plan.input("send", x).bind("recv", y).blocks("send", lengths, same);
                       plan.blocks("recv", lengths, over);
                       std::string why = said(colldsl_plan_commit(plan.get()), COLLDSL_ERROR_PLAN);
                       if (why.find("blocks of 'recv' overlap: block 1 has 2 elements from 2, "
                                    "block 0 begins at 3") == why.npos)
                         return why;
                       plan.blocks("recv", lengths, apart).commit().run(20);
                       plan.blocks("recv", lengths, over);
                       why = said(colldsl_plan_start(plan.get()), COLLDSL_ERROR_PLAN);
                       return why.find("overlap") != why.npos ? "" : why;
                     }),
            "");
}

TEST(ApiRefusals, aBlockForItselfOfTwoLengths) {
  std::string why = refusal("alltoallv", [](coll::Plan &plan, auto &x, auto &y) {
    std::vector<uint64_t> out{3}, in{2};
    plan.input("x", x).bind("y", y).blocks("x", out).blocks("y", in);
  });
  EXPECT_NE(why.find("copies 12 bytes of 'x', block 0 to 8 bytes of 'y', block 0"), why.npos)
      << why;
}

TEST(ApiRefusals, passesAndLists) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan plan(comm, "barrier");
                       std::string why = said(colldsl_plan_set_passes(plan.get(), "nope"),
                                              COLLDSL_ERROR_ARGUMENT);
                       if (why.find("there is no pass 'nope'") == why.npos)
                         return why;
                       int64_t value = 0;
                       uint64_t count = 0;
                       why =
                           said(colldsl_plan_set_list(plan.get(), "l", SIZE_MAX, &value),
                                COLLDSL_ERROR_ARGUMENT) +
                           said(colldsl_plan_set_blocks(plan.get(), "x", SIZE_MAX, &count, nullptr),
                                COLLDSL_ERROR_ARGUMENT);
                       return why.find("'values' has 18446744073709551615 elements") != why.npos &&
                                      why.find("'counts' has 18446744073709551615") != why.npos
                                  ? ""
                                  : why;
                     }),
            "");
}

TEST(ApiRefusals, memoryOfMoreThanThereIs) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       for (uint64_t bytes : {UINT64_MAX, UINT64_MAX - 62, UINT64_MAX / 2}) {
                         int mark = 0;
                         void *memory = &mark;
                         if (colldsl_alloc(comm.get(), bytes, &memory) != COLLDSL_ERROR_MEMORY)
                           return "there was memory for " + std::to_string(bytes);
                         if (memory != &mark)
                           return "the pointer was set";
                       }
                       return "";
                     }),
            "");
}

TEST(ApiRefusals, countsBeyondAllMemory) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       coll::Plan plan(comm, "allreduce");
                       return said(colldsl_plan_set_count(plan.get(), (uint64_t{1} << 63) + 4),
                                   COLLDSL_ERROR_ARGUMENT);
                     }),
            "rank 0: n is 9223372036854775812; it may be up to 9223372036854775807\n");
}

// The child has a copy of what the parent goes on to use.
TEST(ApiForkedChild, leavesThePlanOfItsParentAlone) {
  auto body = [](const colldsl_bootstrap &bootstrap) -> std::string {
    coll::Context context;
    colldsl_comm *comm = nullptr;
    coll::check(colldsl_comm_create(context.get(), &bootstrap, &comm));
    std::string why;
    {
      coll::Communicator view(comm);
      std::vector<int32_t> x(4, 1), y(4);
      coll::Plan plan(view, "allreduce");
      plan.count(4).input("x", x).bind("y", y).commit();
      void *memory = nullptr;
      coll::check(colldsl_alloc(comm, 4096, &memory));
      if (bootstrap.rank == 1) {
        pid_t child = fork();
        if (child == 0) {
          colldsl_free(comm, memory);
          colldsl_plan_destroy(plan.get());
          colldsl_comm_destroy(comm);
          _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        why = status == 0 ? "" : "the child failed";
      }
      plan.run(20);
      why += y[0] == 2 ? "" : "wrong data";
      colldsl_free(comm, memory);
    }
    colldsl_comm_destroy(comm);
    return why;
  };
  EXPECT_EQ(launch(2,
                   [&](const colldsl_bootstrap &bootstrap) -> std::string {
                     try {
                       return body(bootstrap);
                     } catch (const std::exception &e) {
                       return e.what();
                     }
                   }),
            "");
}

TEST(CppPlan, memoryOfAnotherType) {
  EXPECT_EQ(runRanks(1,
                     [](coll::Communicator &comm) -> std::string {
                       std::vector<double> x(4, 1.5), y(4);
                       std::vector<float> small(4);
                       coll::Plan plan(comm, "allreduce");
                       plan.count(4).input("x", x).bind("y", y).commit().run(20);
                       if (y[3] != 1.5)
                         return "the type is not that of the memory";
                       coll::Plan other(comm, "allreduce");
                       try {
                         other.type<float>().input("x", x);
                         return "memory of doubles was taken for floats";
                       } catch (const coll::Error &e) {
                         if (e.status() != COLLDSL_ERROR_ARGUMENT)
                           return e.what();
                       }
                       other.input("x", small);
                       try {
                         other.type<double>();
                         return "memory of floats was taken for doubles";
                       } catch (const coll::Error &) {
                       }
                       other.count(4).bind("y", std::span(y).first(2), coll::ownType); // as bytes
                       other.commit().run(20);
                       return "";
                     }),
            "");
}

} // namespace
} // namespace colldsl::test
