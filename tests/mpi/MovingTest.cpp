// Reductions whose buffers lie elsewhere in each call: a plan that is used again writes where the
// call says, and nowhere else.
#include "mpi/Mpi.h"

#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace colldsl::mpi::test {
namespace {

constexpr size_t kPlaces = 5, kCalls = 4 * kPlaces;
constexpr int kGuard = -77;

/// One array of `count` integers per call, at several places between guards.
class Places {
public:
  explicit Places(size_t count) : count_(count), memory_((kPlaces + 1) * (count + kGap), kGuard) {}
  int *at(size_t call) { return &memory_[kGap + placeOf(call) * (count_ + kGap)]; }
  void fill(size_t call, int value) { std::fill_n(at(call), count_, value); }
  /// Whether that place holds this value, and all else is untouched; the place is untouched then.
  bool take(size_t call, int value) {
    bool isRight = std::count(at(call), at(call) + count_, value) == static_cast<long>(count_);
    fill(call, kGuard);
    return isRight && isUntouched();
  }
  bool isUntouched() const {
    return std::count(memory_.begin(), memory_.end(), kGuard) == static_cast<long>(memory_.size());
  }

private:
  static constexpr size_t kGap = 64;
  // Neighbours of a call are no neighbours in memory, and differ from rank to rank.
  static size_t placeOf(size_t call) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return (call * 3 + static_cast<size_t>(rank)) % kPlaces;
  }

  size_t count_;
  std::vector<int> memory_;
};

/// A reduction of `count` elements, with a request where it is nonblocking.
struct Call {
  const char *name;
  std::function<int(const int *, int *, int count, MPI_Request *)> start;
  std::function<int(int call, int rank, int ranks)> expected; ///< kGuard: nothing is written
};

int valueOf(size_t call, int rank) { return static_cast<int>(call) + 10 * rank; }
int sumOf(size_t call, int first, int end) {
  int sum = 0;
  for (int rank = first; rank < end; ++rank)
    sum += valueOf(call, rank);
  return sum;
}

const std::array<Call, 4> kReductions = {
    Call{"allreduce",
         [](const int *in, int *out, int count, MPI_Request *) {
           return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
         },
         [](int call, int, int ranks) { return sumOf(static_cast<size_t>(call), 0, ranks); }},
    Call{"iallreduce",
         [](const int *in, int *out, int count, MPI_Request *request) {
           return MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
         },
         [](int call, int, int ranks) { return sumOf(static_cast<size_t>(call), 0, ranks); }},
    Call{"reduce",
         [](const int *in, int *out, int count, MPI_Request *) {
           return MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
         },
         [](int call, int rank, int ranks) {
           return rank == 0 ? sumOf(static_cast<size_t>(call), 0, ranks) : kGuard;
         }},
    Call{"scan",
         [](const int *in, int *out, int count, MPI_Request *) {
           return MPI_Scan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
         },
         [](int call, int rank, int) { return sumOf(static_cast<size_t>(call), 0, rank + 1); }}};

// Eager, by a rendezvous, and copied by both ends.
TEST(Moving, ReductionsWriteWhereTheCallSays) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int count : {1000, 6000, 30000, 300000}) {
    Places in(static_cast<size_t>(count)), out(static_cast<size_t>(count));
    for (const Call &reduction : kReductions)
      for (size_t call = 0; call < kCalls; ++call) {
        in.fill(call, valueOf(call, rank));
        MPI_Request request = MPI_REQUEST_NULL;
        ASSERT_EQ(reduction.start(in.at(call), out.at(call), count, &request), MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int expected = reduction.expected(static_cast<int>(call), rank, ranks);
        EXPECT_TRUE(out.take(call, expected)) << reduction.name << " " << count << " " << call;
        EXPECT_TRUE(in.take(call, valueOf(call, rank)))
            << reduction.name << " " << count << " " << call;
      }
  }
}

// Programs preset it; also where elements have gaps, and the result goes through a copy.
TEST(Moving, AnExscanLeavesTheResultOfTheFirstRankAlone) {
  struct Pair {
    short value;
    int index;
  };
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int kPairs = 100;
  for (int call = 0; call < 3; ++call) {
    std::vector<Pair> in(kPairs), out(kPairs);
    for (size_t i = 0; i < kPairs; ++i) {
      in[i] = {static_cast<short>(100 - rank), rank};
      out[i] = {kGuard, kGuard};
    }
    MPI_Exscan(in.data(), out.data(), kPairs, MPI_SHORT_INT, MPI_MINLOC, MPI_COMM_WORLD);
    for (const Pair &pair : out) {
      EXPECT_EQ(pair.value, rank == 0 ? kGuard : 101 - rank) << "call " << call;
      EXPECT_EQ(pair.index, rank == 0 ? kGuard : rank - 1) << "call " << call;
    }
  }
}

} // namespace
} // namespace colldsl::mpi::test
