// Ranks that are forked, and ranks that find each other.
#include "tests/api/Launcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace colldsl::test {
namespace {

std::string sumsRight(coll::Communicator &comm) {
  std::vector<int64_t> x(5, comm.rank() + 1), y(5);
  coll::Plan sum(comm, "allreduce");
  sum.type<int64_t>().count(x.size()).input("x", x).bind("y", y).commit();
  sum.run(20);
  int64_t ranks = comm.size();
  for (int64_t value : y)
    if (value != ranks * (ranks + 1) / 2)
      return "the sum is " + std::to_string(value);
  return "";
}

std::string forkFails(uint32_t ranks, colldsl_body body, double timeout, colldsl_status expected) {
  coll::Context context;
  colldsl_status status = colldsl_fork(context.get(), ranks, body, nullptr, timeout);
  EXPECT_EQ(status, expected);
  return colldsl_last_error();
}

TEST(ApiFork, anyNumberOfRanks) {
  for (uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 13u})
    EXPECT_EQ(runRanks(ranks, sumsRight), "") << ranks;
}

TEST(ApiFork, namesTheRankThatFailed) {
  auto body = [](colldsl_comm *comm, void *) { return colldsl_comm_rank(comm) == 2 ? 7 : 0; };
  EXPECT_EQ(forkFails(4, body, -1, COLLDSL_ERROR_RANK), "rank 2 returned 7");
}

TEST(ApiFork, namesTheRankThatWasKilled) {
  auto body = [](colldsl_comm *comm, void *) {
    if (colldsl_comm_rank(comm) == 1)
      raise(SIGKILL);
    return 0;
  };
  EXPECT_EQ(forkFails(3, body, -1, COLLDSL_ERROR_RANK), "rank 1 was killed by signal 9 (Killed)");
}

TEST(ApiFork, endsRanksThatTakeTooLong) {
  auto body = [](colldsl_comm *comm, void *) {
    while (colldsl_comm_rank(comm) == 0)
      pause();
    return 0;
  };
  EXPECT_EQ(forkFails(2, body, 0.3, COLLDSL_ERROR_RANK), "rank 0 did not end in time");
}

TEST(ApiFork, blamesTheRankThatFailedNotThoseThatWaitForIt) {
  auto body = [](colldsl_comm *comm, void *) {
    colldsl_plan *barrier = nullptr;
    if (colldsl_plan_create(comm, nullptr, "barrier", &barrier) || colldsl_plan_commit(barrier))
      return 1;
    if (colldsl_comm_rank(comm) == 1)
      return 5; // and leaves its plan behind
    if (colldsl_plan_start(barrier) == COLLDSL_OK)
      colldsl_plan_wait(barrier, -1); // ends, because rank 1 has left
    while (colldsl_plan_start(barrier) == COLLDSL_OK &&
           colldsl_plan_wait(barrier, -1) == COLLDSL_OK) {
    }
    return 0;
  };
  EXPECT_EQ(forkFails(3, body, 20, COLLDSL_ERROR_RANK), "rank 1 returned 5");
}

/// Whether the rank of this process is to end its waits.
bool isInterrupted = false;

// The other rank comes too late, and is not kept waiting.
TEST(ApiFork, anInterruptedCommitFailsOnAllRanks) {
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.interrupted = [](void *) { return isInterrupted ? 1 : 0; };
  colldsl_context *context = nullptr;
  ASSERT_EQ(colldsl_context_create(&options, &context), COLLDSL_OK);
  auto body = [](colldsl_comm *comm, void *) {
    isInterrupted = colldsl_comm_rank(comm) == 0;
    if (!isInterrupted)
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    colldsl_plan *barrier = nullptr;
    if (colldsl_plan_create(comm, nullptr, "barrier", &barrier))
      return 1;
    if (colldsl_plan_commit(barrier) != COLLDSL_ERROR_PLAN)
      return 2;
    return std::strstr(colldsl_last_error(), "rank 0 was interrupted") ? 0 : 3;
  };
  EXPECT_EQ(colldsl_fork(context, 2, body, nullptr, 20), COLLDSL_OK) << colldsl_last_error();
  colldsl_context_destroy(context);
}

TEST(ApiFork, timeoutsMayBeInfinite) {
  coll::Context context([] {
    colldsl_options options = COLLDSL_OPTIONS_INIT;
    options.setup_timeout = INFINITY;
    return options;
  }());
  context.fork(2, [](coll::Communicator &comm) {
    if (!sumsRight(comm).empty())
      throw std::runtime_error("wrong");
  });
}

TEST(ApiFork, ownsItsCommunicator) {
  EXPECT_EQ(runRanks(2,
                     [](coll::Communicator &comm) {
                       colldsl_comm_destroy(comm.get());
                       return sumsRight(comm);
                     }),
            "");
}

TEST(ApiFork, oneAfterTheOther) {
  coll::Context context;
  for (int i = 0; i < 3; ++i)
    context.fork(2, [](coll::Communicator &comm) {
      if (!sumsRight(comm).empty())
        throw std::runtime_error("wrong");
    });
}

std::string joinAndSum(const colldsl_bootstrap &bootstrap) {
  try {
    coll::Context context;
    coll::LaunchedCommunicator comm(context, bootstrap);
    if (comm.rank() != bootstrap.rank || comm.size() != bootstrap.size)
      return "it is rank " + std::to_string(comm.rank());
    return sumsRight(comm);
  } catch (const std::exception &e) {
    return e.what();
  }
}

TEST(ApiBootstrap, unrelatedProcesses) {
  for (uint32_t ranks : {1u, 2u, 5u})
    EXPECT_EQ(launch(ranks, joinAndSum), "") << ranks;
}

TEST(ApiBootstrap, twoCommunicatorsAtOnce) {
  EXPECT_EQ(launch(3,
                   [](const colldsl_bootstrap &bootstrap) -> std::string {
                     coll::Context context;
                     coll::LaunchedCommunicator first(context, bootstrap),
                         second(context, bootstrap);
                     return sumsRight(second) + sumsRight(first);
                   }),
            "");
}

std::string whyNot(const colldsl_bootstrap &bootstrap, const colldsl_options &options) {
  coll::Context context(options);
  colldsl_comm *comm = nullptr;
  colldsl_status status = colldsl_comm_create(context.get(), &bootstrap, &comm);
  return status == COLLDSL_ERROR_SETUP ? colldsl_last_error() : "it worked";
}

TEST(ApiBootstrap, allRanksGetTheReason) {
  // One rank counts differently.
  EXPECT_EQ(launch(3,
                   [](colldsl_bootstrap bootstrap) {
                     colldsl_options options = COLLDSL_OPTIONS_INIT;
                     options.arena_bytes = bootstrap.rank == 2 ? 8192 * 512 : 0;
                     std::string why = whyNot(bootstrap, options);
                     return why.find("rank 2: the shared memory has ") == 0 ? "" : why;
                   }),
            "");
  // The launcher fails.
  EXPECT_EQ(launch(2,
                   [](colldsl_bootstrap bootstrap) {
                     bootstrap.allgather = [](const void *, void *, size_t, void *) { return 9; };
                     return whyNot(bootstrap, COLLDSL_OPTIONS_INIT);
                   }),
            "rank 0: the launcher's allgather returned 9\n"
            "rank 1: the launcher's allgather returned 9\n");
}

TEST(ApiBootstrap, refusesARankThatDoesNotExist) {
  EXPECT_EQ(launch(1,
                   [](colldsl_bootstrap bootstrap) {
                     bootstrap.rank = 1;
                     return whyNot(bootstrap, COLLDSL_OPTIONS_INIT);
                   }),
            "rank 0: rank 0: there is no rank 1 among 1 ranks\n");
}

TEST(ApiBootstrap, survivorsLearnOfADeath) {
  std::string said = launch(3, [](const colldsl_bootstrap &bootstrap) -> std::string {
    coll::Context context;
    coll::LaunchedCommunicator comm(context, bootstrap);
    std::vector<int32_t> buffer(10);
    coll::Plan bcast(comm, "bcast");
    bcast.count(buffer.size()).set("root", 2).bind("buf", buffer).commit();
    if (comm.rank() == 2)
      raise(SIGKILL);
    bcast.start();
    colldsl_status status = colldsl_plan_wait(bcast.get(), 20);
    if (status != COLLDSL_ERROR_RUN)
      return "status " + std::to_string(status);
    std::string why = colldsl_last_error();
    return why.find("rank 2 died") == 0 ? "" : why;
  });
  EXPECT_EQ(said, "rank 2: killed by signal 9\n");
}

TEST(ApiBootstrap, leavesNoDescriptorsBehind) {
  EXPECT_EQ(launch(2,
                   [](const colldsl_bootstrap &bootstrap) -> std::string {
                     auto lowestFree = [] {
                       int fd = dup(0);
                       close(fd);
                       return fd;
                     };
                     int before = lowestFree();
                     for (int i = 0; i < 3; ++i)
                       if (std::string why = joinAndSum(bootstrap); !why.empty())
                         return why;
                     return lowestFree() == before ? "" : "a descriptor is left";
                   }),
            "");
}

} // namespace
} // namespace colldsl::test
