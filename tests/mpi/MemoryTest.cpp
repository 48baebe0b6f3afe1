// Memory of MPI_Alloc_mem comes from what the ranks share while there is some, and from the MPI
// after that.
#include "mpi/Job.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

namespace colldsl::mpi::test {
namespace {

bool isShared(const void *memory) { return Job::current()->worker().owns(memory); }

void *allocated(MPI_Aint bytes) {
  void *memory = nullptr;
  EXPECT_EQ(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory), MPI_SUCCESS);
  return memory;
}

/// Address space of this process that shows memory of all ranks.
uint64_t sharedBytes() {
  std::ifstream maps("/proc/self/maps");
  uint64_t bytes = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:colldsl") != std::string::npos) {
      size_t end = 0;
      uint64_t first = std::stoull(line, &end, 16);
      bytes += std::stoull(line.substr(end + 1), nullptr, 16) - first;
    }
  return bytes;
}

TEST(Memory, TakesLittleAddressSpaceForEachPeer) {
  int ranks = 1, mine = 1, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ASSERT_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(sum, ranks);
  EXPECT_GT(sharedBytes(), 0u);
  EXPECT_LE(sharedBytes(), static_cast<uint64_t>(ranks) * (64 << 20));
}

TEST(Memory, TakesAddressSpaceWhileItIsAllocated) {
  constexpr uint64_t kBytes = 512 << 20;
  uint64_t before = sharedBytes();
  void *memory = allocated(kBytes);
  ASSERT_TRUE(isShared(memory));
  EXPECT_EQ(sharedBytes(), before + kBytes);
  EXPECT_EQ(MPI_Free_mem(memory), MPI_SUCCESS);
  EXPECT_EQ(sharedBytes(), before);
}

TEST(Memory, IsSharedAndUsedAgain) {
  constexpr MPI_Aint kBytes = 256 << 10;
  void *first = allocated(kBytes);
  ASSERT_TRUE(isShared(first));
  std::memset(first, 1, kBytes);
  EXPECT_EQ(MPI_Free_mem(first), MPI_SUCCESS);
  void *second = allocated(kBytes);
  EXPECT_EQ(second, first);
  EXPECT_EQ(MPI_Free_mem(second), MPI_SUCCESS);
}

// More than an arena has room for, in blocks that lie there.
TEST(Memory, IsSharedInManyShortBlocks) {
  std::vector<void *> blocks;
  for (int i = 0; i < 100; ++i)
    blocks.push_back(allocated(512 << 10));
  EXPECT_TRUE(std::all_of(blocks.begin(), blocks.end(), isShared));
  for (void *block : blocks)
    EXPECT_EQ(MPI_Free_mem(block), MPI_SUCCESS);
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

// Long enough that its receiver takes it from the sender's memory; in an arena, or beyond it.
class Ring : public testing::TestWithParam<int> {};

TEST_P(Ring, CarriesABlock) {
  const int kCount = GetParam();
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

INSTANTIATE_TEST_SUITE_P(Memory, Ring, testing::Values(50000, 100000, 1000000, 300000, 500000));

} // namespace
} // namespace colldsl::mpi::test
