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

/// A periodic grid of one dimension, with the ranks on either side.
struct Ring {
  Ring() {
    int ranks = 1, isPeriodic = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &isPeriodic, 0, &comm);
    before = (rank + ranks - 1) % ranks;
    behind = (rank + 1) % ranks;
  }
  ~Ring() { MPI_Comm_free(&comm); }

  /// Sends `count` integers either way, which this rank, the side and the call tell. Returns true
  /// if those of the neighbours came.
  bool exchange(int *sent, int *got, int count, int call) const {
    auto valueOf = [call](int from, int side) { return 1000 * call + 2 * from + side; };
    std::fill_n(sent, count, valueOf(rank, 0));
    std::fill_n(sent + count, count, valueOf(rank, 1));
    std::fill_n(got, 2 * count, -1);
    EXPECT_EQ(MPI_Neighbor_alltoall(sent, count, MPI_INT, got, count, MPI_INT, comm), MPI_SUCCESS);
    return std::count(got, got + count, valueOf(before, 1)) == count &&
           std::count(got + count, got + 2 * count, valueOf(behind, 0)) == count;
  }

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, before, behind;
};

// Long enough that its receiver takes it from the sender's memory; in an arena, or beyond it.
class Blocks : public testing::TestWithParam<int> {};

TEST_P(Blocks, AreCarriedRoundARing) {
  const int kCount = GetParam();
  Ring ring;
  auto *sent = static_cast<int *>(allocated(2 * kCount * sizeof(int)));
  auto *got = static_cast<int *>(allocated(2 * kCount * sizeof(int)));
  EXPECT_TRUE(ring.exchange(sent, got, kCount, 1));
  MPI_Free_mem(sent);
  MPI_Free_mem(got);
}

// More buffers than there are operations, in either kind of memory: an operation moves from one
// kind to the other. Ranks differ in the kind that they use.
TEST(Memory, IsLeftAndUsedAgainFromCallToCall) {
  constexpr int kPlaces = 5, kCalls = 20;
  Ring ring;
  for (int count : {64, 65, 1000, 6000}) {
    std::vector<int> own(static_cast<size_t>(kPlaces * 2 * count));
    auto bytes = static_cast<MPI_Aint>(own.size() * sizeof(int));
    auto *shared = static_cast<int *>(allocated(bytes));
    ASSERT_TRUE(isShared(shared));
    auto *got = static_cast<int *>(allocated(bytes));
    for (int call = 0; call < kCalls; ++call) {
      int place = (3 * call + ring.rank) % kPlaces;
      int *sent = (place % 2 == 0 ? shared : own.data()) + 2 * count * place;
      EXPECT_TRUE(ring.exchange(sent, got + 2 * count * (call % kPlaces), count, call))
          << count << " integers, call " << call;
    }
    MPI_Free_mem(shared);
    MPI_Free_mem(got);
  }
}

INSTANTIATE_TEST_SUITE_P(Memory, Blocks, testing::Values(50000, 100000, 1000000, 300000, 500000));

} // namespace
} // namespace colldsl::mpi::test
