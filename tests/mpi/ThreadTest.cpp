// Several threads at once, each with communicators of its own that it makes, uses and frees.
#include "mpi/comm/ServedComm.h"

#include <gtest/gtest.h>
#include <thread>

namespace colldsl::mpi::test {
namespace {

constexpr int kThreads = 3;
constexpr int kRounds = 15, kRuns = 10;

/// One thread's work; counts what was wrong, since threads may not fail a test together.
class Worker {
public:
  Worker(MPI_Comm all, int salt) : all_(all), salt_(salt) {
    MPI_Comm_rank(all, &rank_);
    MPI_Comm_size(all, &ranks_);
  }

  void operator()() {
    for (int round = 0; round < kRounds; ++round) {
      int isPeriodic = 1;
      MPI_Cart_create(all_, 1, &ranks_, &isPeriodic, 0, &ring_);
      wrong +=
          !KnownComms::of(ring_) || !KnownComms::of(ring_)->serves(CallKind::NeighborAllgather);
      for (int run = 0; run < kRuns; ++run)
        exchange(run);
      MPI_Comm_free(&ring_);
    }
  }

  int wrong = 0;

private:
  void exchange(int run) {
    int base = 1000 * salt_ + 100 * run;
    int sent[2] = {base + 2 * rank_, base + 2 * rank_ + 1}, got[2] = {-1, -1};
    if (run % 3 == 0) {
      MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring_);
    } else {
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring_, &requests[run % 2]);
      if (run % 3 == 1)
        MPI_Barrier(all_);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    int before = (rank_ + ranks_ - 1) % ranks_, behind = (rank_ + 1) % ranks_;
    wrong += got[0] != base + 2 * before + 1 || got[1] != base + 2 * behind;
  }

  MPI_Comm all_, ring_ = MPI_COMM_NULL;
  int salt_, rank_ = 0, ranks_ = 1;
};

TEST(Threads, EachWithACommunicator) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    GTEST_SKIP() << "this MPI lets no more than one thread at it";
  // Open MPI's first topology must be made while no other is.
  MPI_Comm first;
  int one = 1, isPeriodic = 1;
  MPI_Cart_create(MPI_COMM_SELF, 1, &one, &isPeriodic, 0, &first);
  MPI_Comm_free(&first);
  MPI_Comm comms[kThreads];
  std::vector<Worker> workers;
  for (int t = 0; t < kThreads; ++t) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    workers.emplace_back(comms[t], t);
  }
  std::vector<std::thread> threads;
  for (Worker &worker : workers)
    threads.emplace_back(std::ref(worker));
  for (std::thread &thread : threads)
    thread.join();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(workers[t].wrong, 0) << "thread " << t;
    MPI_Comm_free(&comms[t]);
  }
}

} // namespace
} // namespace colldsl::mpi::test
