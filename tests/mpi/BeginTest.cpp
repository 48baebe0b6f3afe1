// The job begins with the first blocking call of all ranks, not before, and serves what was made
// before.
#include "mpi/Job.h"
#include "mpi/comm/KnownComms.h"

#include <gtest/gtest.h>

namespace colldsl::mpi::test {
namespace {

int sumOf(MPI_Comm comm) {
  int one = 1, sum = 0;
  EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  return sum;
}

int sizeOf(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

/// True unless the job has begun in MPI_Init, as it does where any thread may call the MPI.
bool beginsLate() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level < MPI_THREAD_MULTIPLE;
}

/// The ranks of even number; null elsewhere.
MPI_Comm evenRanks() {
  std::vector<int> even;
  for (int r = 0; r < sizeOf(MPI_COMM_WORLD); r += 2)
    even.push_back(r);
  MPI_Group all, some;
  MPI_Comm made = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, static_cast<int>(even.size()), even.data(), &some);
  if (rank % 2 == 0)
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

void expectServed(MPI_Comm comm) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(sumOf(comm), sizeOf(comm));
  EXPECT_NE(KnownComms::of(comm), nullptr);
}

TEST(Begin, IsTheFirstBlockingCallOfAllRanks) {
  ASSERT_EQ(Job::current() == nullptr, beginsLate());
  int one = 1, sum = 0;
  MPI_Request requests[2];
  MPI_Comm duplicate = MPI_COMM_NULL, even = evenRanks(), own = MPI_COMM_NULL;
  void *early = nullptr;
  MPI_Alloc_mem(4096, MPI_INFO_NULL, &early);
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &requests[0]);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(sum, sizeOf(MPI_COMM_WORLD));
  EXPECT_EQ(sumOf(MPI_COMM_SELF), 1);
  if (even != MPI_COMM_NULL) {
    EXPECT_EQ(sumOf(even), sizeOf(even));
  }
  EXPECT_EQ(Job::current() == nullptr, beginsLate());
  if (even != MPI_COMM_NULL) // some ranks only
    MPI_Barrier(even);

  EXPECT_EQ(sumOf(MPI_COMM_WORLD), sizeOf(MPI_COMM_WORLD));
  ASSERT_NE(Job::current(), nullptr);
  EXPECT_NE(KnownComms::of(MPI_COMM_WORLD), nullptr);
  for (MPI_Comm comm : {MPI_COMM_WORLD, duplicate, even, own})
    if (comm != MPI_COMM_NULL)
      expectServed(comm);
  EXPECT_EQ(MPI_Free_mem(early), MPI_SUCCESS);
  for (MPI_Comm *comm : {&duplicate, &even, &own})
    if (*comm != MPI_COMM_NULL)
      MPI_Comm_free(comm);
}

} // namespace
} // namespace colldsl::mpi::test
