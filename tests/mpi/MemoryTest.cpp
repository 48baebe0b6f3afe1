// Memory of MPI_Alloc_mem comes from what the ranks share while there is some, and from the MPI
// after that.
#include "mpi/Job.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::mpi::test {
namespace {

bool isShared(const void *memory) { return Job::current()->worker().owns(memory); }

void *allocated(MPI_Aint bytes) {
  void *memory = nullptr;
  EXPECT_EQ(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory), MPI_SUCCESS);
  return memory;
}

TEST(Memory, IsSharedAndUsedAgain) {
  void *first = allocated(1 << 20);
  ASSERT_TRUE(isShared(first));
  std::memset(first, 1, 1 << 20);
  EXPECT_EQ(MPI_Free_mem(first), MPI_SUCCESS);
  void *second = allocated(1 << 20);
  EXPECT_EQ(second, first);
  EXPECT_EQ(MPI_Free_mem(second), MPI_SUCCESS);
}

TEST(Memory, ComesFromTheMpiWhereItIsShortOrNothing) {
  constexpr MPI_Aint kEnough = MPI_Aint{15} << 30; // of 16 GiB of addresses; it is not touched
  void *most = allocated(kEnough), *none = allocated(0), *piece = nullptr;
  ASSERT_TRUE(isShared(most));
  EXPECT_FALSE(isShared(none));
  std::vector<void *> pieces;
  do
    pieces.push_back(piece = allocated(64 << 20));
  while (isShared(piece) && pieces.size() < 17);
  EXPECT_FALSE(isShared(piece));
  std::memset(piece, 1, 64 << 20);
  for (void *p : pieces)
    EXPECT_EQ(MPI_Free_mem(p), MPI_SUCCESS);
  EXPECT_EQ(MPI_Free_mem(most), MPI_SUCCESS);
  EXPECT_EQ(MPI_Free_mem(none), MPI_SUCCESS);
}

// Long enough that its receiver takes it from the sender's memory.
TEST(Memory, CarriesABlockRoundARing) {
  constexpr int kCount = 100000;
  int rank = 0, ranks = 1, isPeriodic = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &isPeriodic, 0, &ring);
  auto *sent = static_cast<int *>(allocated(2 * kCount * sizeof(int)));
  auto *got = static_cast<int *>(allocated(2 * kCount * sizeof(int)));
  std::fill_n(sent, kCount, 2 * rank);
  std::fill_n(sent + kCount, kCount, 2 * rank + 1);
  ASSERT_EQ(MPI_Neighbor_alltoall(sent, kCount, MPI_INT, got, kCount, MPI_INT, ring), MPI_SUCCESS);
  int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
  EXPECT_EQ(std::count(got, got + kCount, 2 * before + 1), kCount);
  EXPECT_EQ(std::count(got + kCount, got + 2 * kCount, 2 * behind), kCount);
  MPI_Free_mem(sent);
  MPI_Free_mem(got);
  MPI_Comm_free(&ring);
}

} // namespace
} // namespace colldsl::mpi::test
