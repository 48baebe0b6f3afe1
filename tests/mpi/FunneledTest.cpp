// Threads in collectives below MPI_THREAD_MULTIPLE, each with a communicator of its own. MPI
// forbids it, and PT-SCOTCH does it.
#include "mpi/comm/ServedComm.h"

#include <gtest/gtest.h>
#include <thread>

namespace colldsl::mpi::test {
namespace {

constexpr int kThreads = 2;
constexpr int kDuplicates = 20, kRuns = 50;

/// Sums and exchanges on one communicator, at counts that each need a plan of their own; returns
/// how many results were wrong.
int useCollectives(MPI_Comm comm, int salt) {
  int rank = 0, ranks = 1, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int run = 1; run <= kRuns; ++run) {
    std::vector<int> sent(run * ranks, salt + rank), got(run * ranks, -1);
    wrong += MPI_Allreduce(sent.data(), got.data(), run, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
    wrong += got[run - 1] != ranks * salt + ranks * (ranks - 1) / 2;
    wrong += MPI_Alltoall(sent.data(), run, MPI_INT, got.data(), run, MPI_INT, comm) != MPI_SUCCESS;
    wrong += got.front() != salt || got.back() != salt + ranks - 1;
  }
  return wrong;
}

// The main thread makes all communicators, so no other thread has the MPI below make one.
TEST(Funneled, ThreadsInCollectives) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  ASSERT_EQ(level, MPI_THREAD_FUNNELED);
  for (int round = 0; round < kDuplicates; ++round) {
    MPI_Comm comms[kThreads];
    int wrong[kThreads] = {};
    for (MPI_Comm &comm : comms) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      ASSERT_NE(KnownComms::of(comm), nullptr);
    }
    std::thread other([&] { wrong[1] = useCollectives(comms[1], 100); });
    wrong[0] = useCollectives(comms[0], 0);
    other.join();
    for (int t = 0; t < kThreads; ++t) {
      EXPECT_EQ(wrong[t], 0) << "thread " << t << ", round " << round;
      MPI_Comm_free(&comms[t]);
    }
  }
}

} // namespace
} // namespace colldsl::mpi::test
