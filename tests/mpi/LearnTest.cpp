// What is learned while a job runs: with COLLDSL_LEARN=always, so that each call is one of a step
// from the first on, or with COLLDSL_LEARN=1. Linked with the entries themselves.
#include "mpi/CallSummary.h"
#include "mpi/Settings.h"
#include "mpi/comm/ServedComm.h"
#include "mpi/operations/CollectiveOperation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

namespace colldsl::mpi::test {
namespace {

int rankOf(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranksOf(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

MPI_Comm duplicate() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/// A sum of longs whose result is checked.
void sum(MPI_Comm comm, long salt) {
  long mine = salt + rankOf(comm), all = -1, ranks = ranksOf(comm);
  ASSERT_EQ(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm), MPI_SUCCESS);
  ASSERT_EQ(all, salt * ranks + ranks * (ranks - 1) / 2);
}

std::shared_ptr<LearnedClass> classOf(MPI_Comm comm, CallKind kind) {
  return KnownComms::of(comm)->learner()->find({kind, 0, 0, false});
}

bool isLearnable() { return Settings::all().learnsAlways() && ranksOf(MPI_COMM_WORLD) > 1; }

TEST(Learn, AllRanksRunTheSameCandidatesAndDecideAlike) {
  if (!isLearnable())
    GTEST_SKIP() << "for several ranks, with COLLDSL_LEARN=always";
  MPI_Comm comm = duplicate();
  sum(comm, 0);
  std::shared_ptr<LearnedClass> learned = classOf(comm, CallKind::Allreduce);
  ASSERT_NE(learned, nullptr);
  for (long i = 1; i < 1500 && !learned->trials.isOver(); ++i)
    sum(comm, i);
  EXPECT_TRUE(learned->trials.isDecided());
  uint64_t calls = learned->trials.calls();
  for (long i = 0; i < 20; ++i)
    sum(comm, i);
  EXPECT_EQ(learned->trials.calls(), calls + 20);
  EXPECT_GT(learned->trials.trialCalls(), 6u);
  ASSERT_GT(learned->what.size(), 2u) << "there is something to try";
  std::vector<uint64_t> mine = {learned->trials.best(), learned->trials.trialCalls(),
                                learned->what.size()};
  for (const TunedCollective &what : learned->what)
    mine.push_back(Summary::all().algorithm(CallKind::Allreduce, what.name).runs);
  mine.resize(3 + 1 + Trials::kMostCandidates);
  std::vector<uint64_t> least(mine.size()), most(mine.size());
  auto count = static_cast<int>(mine.size());
  PMPI_Allreduce(mine.data(), least.data(), count, MPI_UINT64_T, MPI_MIN, comm);
  PMPI_Allreduce(mine.data(), most.data(), count, MPI_UINT64_T, MPI_MAX, comm);
  EXPECT_EQ(least, most);
  MPI_Comm_free(&comm);
}

TEST(Learn, ACommunicatorMayGoInTheMiddle) {
  for (long calls = 1; calls < 120; calls += 7) {
    MPI_Comm comm = duplicate();
    for (long i = 0; i < calls; ++i)
      sum(comm, i);
    long mine = rankOf(comm), all = -1, ranks = ranksOf(comm);
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm, &request);
    MPI_Comm_free(&comm);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(all, ranks * (ranks - 1) / 2);
  }
  sum(MPI_COMM_WORLD, 1);
}

TEST(Learn, NonblockingOnesRunBesideTrialsAndAcrossTheDecision) {
  MPI_Comm comm = duplicate();
  long ranks = ranksOf(comm);
  for (long i = 0; i < 100; ++i) {
    long mine[3] = {i, i + 1, i + 2}, all[3] = {};
    MPI_Request requests[3];
    for (int k = 0; k < 3; ++k)
      MPI_Iallreduce(&mine[k], &all[k], 1, MPI_LONG, MPI_SUM, comm, &requests[k]);
    for (long k = 0; k < 4; ++k)
      sum(comm, i + k);
    ASSERT_EQ(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (long k = 0; k < 3; ++k)
      ASSERT_EQ(all[k], (i + k) * ranks);
  }
  MPI_Comm_free(&comm);
}

// Buffers at new places, of which operations keep two: the others move.
TEST(Learn, BuffersMayMove) {
  MPI_Comm comm = duplicate();
  constexpr int kCount = 100;
  std::vector<int> memory(kCount * 7);
  for (int i = 0; i < 300; ++i) {
    int *data = memory.data() + kCount * (i % 7);
    if (rankOf(comm) == 0)
      std::iota(data, data + kCount, i);
    ASSERT_EQ(MPI_Bcast(data, kCount, MPI_INT, 0, comm), MPI_SUCCESS);
    for (int k = 0; k < kCount; ++k)
      ASSERT_EQ(data[k], i + k) << "call " << i;
    std::fill(data, data + kCount, -1);
  }
  MPI_Comm_free(&comm);
}

// More kinds of calls than there is room for: which is forgotten depends on no rank.
TEST(Learn, RoomForClassesIsBounded) {
  if (!Settings::all().learns() || Settings::all().learnsAlways())
    GTEST_SKIP() << "with COLLDSL_LEARN=1, where calls of other sizes are other classes";
  MPI_Comm comm = duplicate();
  std::vector<char> data(300);
  for (int round = 0; round < 3; ++round)
    for (int bytes = 1; bytes < 300; ++bytes) {
      std::fill(data.begin(), data.end(), rankOf(comm) == 0 ? static_cast<char>(bytes) : '\0');
      ASSERT_EQ(MPI_Bcast(data.data(), bytes, MPI_CHAR, 0, comm), MPI_SUCCESS);
      ASSERT_EQ(data[static_cast<size_t>(bytes - 1)], static_cast<char>(bytes));
    }
  MPI_Comm_free(&comm);
}

// Each thread has a communicator of its own.
TEST(Learn, ThreadsLearnBesideEachOther) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE)
    GTEST_SKIP() << "the MPI has no threads";
  std::vector<MPI_Comm> comms = {duplicate(), duplicate(), duplicate()};
  std::vector<std::thread> threads;
  for (MPI_Comm comm : comms)
    threads.emplace_back([comm] {
      for (long i = 0; i < 200; ++i)
        sum(comm, i);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (MPI_Comm &comm : comms)
    MPI_Comm_free(&comm);
}

/// What a communicator of this job would have learned.
LearnedRow row(uint64_t bytes, double margin) {
  LearnedRow learned;
  TuningPoint &point = learned.point;
  point.function = "bcast";
  point.ranks = static_cast<uint32_t>(ranksOf(MPI_COMM_WORLD));
  point.bytes = bytes;
  point.shipped = {"bcast_flat", {}};
  point.shippedNs = 1000;
  point.entries = {{*TunedCollective::parse("bcast_kary k=2"), 1000 / margin}};
  point.margin = margin;
  point.least = margin - 0.1;
  point.isLearned = true;
  learned.isOver = learned.hasBytes = true;
  learned.calls = 10'000;
  learned.trialCalls = 100;
  learned.communicationNs = 1e9;
  learned.spentNs = 1.5e7;
  return learned;
}

// learn.test looks at the profile. The last rank is the first of another communicator.
TEST(Learn, WhatIsLearnedIsWritten) {
  if (!std::getenv("LEARN_TEST_WRITES"))
    GTEST_SKIP() << "learn.test runs it";
  Job &job = *Job::current();
  ASSERT_NE(job.learning(), nullptr);
  if (rankOf(MPI_COMM_WORLD) == 0)
    job.learning()->add(row(64, 1.5));
  if (rankOf(MPI_COMM_WORLD) == ranksOf(MPI_COMM_WORLD) - 1) {
    job.learning()->add(row(1024, 1.05));
    LearnedRow late = row(4096, 3);
    late.isOver = false;
    job.learning()->add(late);
    LearnedRow lists = row(0, 3);
    lists.hasBytes = false;
    job.learning()->add(lists);
  }
}

} // namespace
} // namespace colldsl::mpi::test
