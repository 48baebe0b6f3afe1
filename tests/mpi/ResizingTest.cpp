// More shapes of calls than operations are kept: an operation that was not used lately takes the
// counts of the next call, and delivers that many elements and no more.
#include "mpi/Mpi.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace colldsl::mpi::test {
namespace {

constexpr int kMost = 40000, kGuard = -77;

struct Ranks {
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
  }
  int self = 0, all = 1;
};

/// The element that a rank contributes at this place in a call.
int valueOf(int call, int rank, int at) { return 3 * call + 1000 * rank + at % 97; }

int sumOf(int call, int end, int at) {
  int sum = 0;
  for (int rank = 0; rank < end; ++rank)
    sum += valueOf(call, rank, at);
  return sum;
}

/// One kind of call on arrays of `count` integers per rank.
struct Kind {
  const char *name;
  std::function<void(const int *in, int *out, int count, int root)> call;
  std::function<int(const Ranks &ranks, int root)> blocks; ///< that are received
  std::function<int(const Ranks &ranks, int call, int count, int root, int at)> expected;
};

const std::vector<Kind> kKinds = {
    {"bcast",
     [](const int *in, int *out, int count, int root) {
       if (Ranks().self == root)
         std::copy_n(in, count, out);
       MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
     },
     [](const Ranks &, int) { return 1; },
     [](const Ranks &, int call, int, int root, int at) { return valueOf(call, root, at); }},
    {"reduce",
     [](const int *in, int *out, int count, int root) {
       MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
     },
     [](const Ranks &ranks, int root) { return ranks.self == root ? 1 : 0; },
     [](const Ranks &ranks, int call, int, int, int at) { return sumOf(call, ranks.all, at); }},
    {"allreduce in place",
     [](const int *in, int *out, int count, int) {
       std::copy_n(in, count, out);
       MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
     },
     [](const Ranks &, int) { return 1; },
     [](const Ranks &ranks, int call, int, int, int at) { return sumOf(call, ranks.all, at); }},
    {"scan",
     [](const int *in, int *out, int count, int) {
       MPI_Scan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
     },
     [](const Ranks &, int) { return 1; },
     [](const Ranks &ranks, int call, int, int, int at) {
       return sumOf(call, ranks.self + 1, at);
     }},
    {"gather",
     [](const int *in, int *out, int count, int root) {
       MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, MPI_COMM_WORLD);
     },
     [](const Ranks &ranks, int root) { return ranks.self == root ? ranks.all : 0; },
     [](const Ranks &, int call, int count, int, int at) {
       return valueOf(call, at / count, at % count);
     }},
    {"allgather",
     [](const int *in, int *out, int count, int) {
       MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
     },
     [](const Ranks &ranks, int) { return ranks.all; },
     [](const Ranks &, int call, int count, int, int at) {
       return valueOf(call, at / count, at % count);
     }},
};

/// Counts that rarely come again: within size classes and rules, and across them.
int countOf(int call) {
  int few = 1 + call * 37 % 211;
  return call % 7 == 0 ? few * 150 : call % 5 == 0 ? few * 11 : few;
}

TEST(Resizing, CallsWhoseCountsChangeDeliverWhatTheyShould) {
  constexpr int kCalls = 400;
  Ranks ranks;
  std::vector<int> in(kMost), out(static_cast<size_t>(kMost) * static_cast<size_t>(ranks.all));
  for (int call = 0; call < kCalls; ++call) {
    const Kind &kind = kKinds[static_cast<size_t>(call * call + call / 3) % kKinds.size()];
    int count = countOf(call), root = call / 2 % ranks.all;
    for (int i = 0; i < count; ++i)
      in[static_cast<size_t>(i)] = valueOf(call, ranks.self, i);
    std::fill(out.begin(), out.end(), kGuard);
    kind.call(in.data(), out.data(), count, root);
    int received = count * kind.blocks(ranks, root);
    for (int i = 0; i < received; ++i)
      ASSERT_EQ(out[static_cast<size_t>(i)], kind.expected(ranks, call, count, root, i))
          << kind.name << ", call " << call << ", " << count << " elements, place " << i;
    ASSERT_EQ(std::count(out.begin() + received, out.end(), kGuard),
              static_cast<long>(out.size()) - received)
        << kind.name << ", call " << call << ", " << count << " elements";
  }
}

// An operation that took the counts of a call moves with the buffers of the next one.
TEST(Resizing, BuffersMoveAfterwards) {
  constexpr int kShapes = 40, kPlaces = 4, kMostEach = 300;
  Ranks ranks;
  std::vector<int> in(kPlaces * kMostEach), out(in.size());
  for (int shape = 0; shape < kShapes; ++shape)
    for (int place = 0; place < kPlaces; ++place) {
      int count = 50 + 6 * shape, at = place * kMostEach, other = (kPlaces - 1 - place) * kMostEach;
      std::fill(out.begin(), out.end(), kGuard);
      for (int i = 0; i < count; ++i)
        in[static_cast<size_t>(at + i)] = valueOf(shape, ranks.self, place + i);
      MPI_Allreduce(&in[static_cast<size_t>(at)], &out[static_cast<size_t>(other)], count, MPI_INT,
                    MPI_SUM, MPI_COMM_WORLD);
      for (int i = 0; i < count; ++i)
        ASSERT_EQ(out[static_cast<size_t>(other + i)], sumOf(shape, ranks.all, place + i));
      ASSERT_EQ(std::count(out.begin(), out.end(), kGuard), static_cast<long>(out.size()) - count);
    }
}

// Columns of matrices: a new type for each call, with gaps and without, which is freed behind it.
TEST(Resizing, TypesChange) {
  constexpr int kSide = 60;
  Ranks ranks;
  for (int call = 0; call < 120; ++call) {
    int rows = 1 + call * 13 % kSide, columns = 1 + call * 7 % 5, root = call % ranks.all;
    std::vector<int> matrix(kSide * kSide, ranks.self == root ? call : kGuard);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(columns, rows, call % 3 == 0 ? rows : kSide, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(matrix.data(), 1, type, root, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    long expected = ranks.self == root ? static_cast<long>(matrix.size()) : long{rows} * columns;
    ASSERT_EQ(std::count(matrix.begin(), matrix.end(), call), expected) << "call " << call;
  }
}

// An operation whose run is under way keeps its counts.
TEST(Resizing, OperationsInFlightStayAsTheyAre) {
  constexpr int kInFlight = 24, kRounds = 6;
  Ranks ranks;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<int>> in, out;
    std::vector<MPI_Request> requests(kInFlight, MPI_REQUEST_NULL);
    for (int i = 0; i < kInFlight; ++i) {
      auto count = static_cast<size_t>(countOf(round * kInFlight + i));
      in.emplace_back(count, valueOf(i, ranks.self, round));
      out.emplace_back(count, kGuard);
    }
    for (size_t i = 0; i < kInFlight; ++i)
      MPI_Iallreduce(in[i].data(), out[i].data(), static_cast<int>(in[i].size()), MPI_INT, MPI_SUM,
                     MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(kInFlight, requests.data(), MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < kInFlight; ++i)
      EXPECT_EQ(
          std::count(out[i].begin(), out[i].end(), sumOf(static_cast<int>(i), ranks.all, round)),
          static_cast<long>(out[i].size()))
          << "round " << round << ", request " << i;
  }
}

} // namespace
} // namespace colldsl::mpi::test
