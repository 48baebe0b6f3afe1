// More shapes of calls than operations are kept: an operation that was not used lately takes the
// counts of the next call, and delivers that many elements and no more.
#include "mpi/CallSummary.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <numeric>
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
    {"exscan",
     [](const int *in, int *out, int count, int) {
       MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
     },
     [](const Ranks &ranks, int) { return ranks.self > 0 ? 1 : 0; },
     [](const Ranks &ranks, int call, int, int, int at) { return sumOf(call, ranks.self, at); }},
    {"scatter in place",
     [](const int *in, int *out, int count, int root) {
       static std::vector<int> all(kMost * static_cast<size_t>(Ranks().all));
       for (int rank = 0; rank < Ranks().all; ++rank)
         std::copy_n(in, count, all.begin() + static_cast<ptrdiff_t>(rank) * count);
       void *received = Ranks().self == root ? MPI_IN_PLACE : out;
       MPI_Scatter(all.data(), count, MPI_INT, received, count, MPI_INT, root, MPI_COMM_WORLD);
     },
     [](const Ranks &ranks, int root) { return ranks.self == root ? 0 : 1; },
     [](const Ranks &, int call, int, int root, int at) { return valueOf(call, root, at); }},
    {"gather in place",
     [](const int *in, int *out, int count, int root) {
       Ranks ranks;
       std::copy_n(in, count, out + ranks.self * (ranks.self == root ? count : 0));
       if (ranks.self == root)
         MPI_Gather(MPI_IN_PLACE, count, MPI_INT, out, count, MPI_INT, root, MPI_COMM_WORLD);
       else
         MPI_Gather(out, count, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
     },
     [](const Ranks &ranks, int root) { return ranks.self == root ? ranks.all : 1; },
     [](const Ranks &ranks, int call, int count, int root, int at) {
       return valueOf(call, ranks.self == root ? at / count : ranks.self, at % count);
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
  return call % 13 == 0 ? 0 : call % 7 == 0 ? few * 150 : call % 5 == 0 ? few * 11 : few;
}

TEST(Resizing, CallsWhoseCountsChangeDeliverWhatTheyShould) {
  constexpr int kCalls = 600;
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

/// Blocks with lengths of their own, one behind the other with gaps, forwards or backwards.
struct Blocks {
  std::vector<int> counts, places;
  std::vector<MPI_Datatype> types;
  int end = 0;
};

/// In a call between these ranks; often none.
int lengthOf(int call, int from, int to) {
  return (call * 7 + from * 5 + to * 3) % 211 * (call % 3);
}

/// `scale`: of places; 1, or the bytes of an element.
template <typename Length>
Blocks blocksOf(const Ranks &ranks, int scale, bool isBackwards, Length length) {
  Blocks blocks;
  blocks.counts.resize(static_cast<size_t>(ranks.all));
  blocks.places.resize(blocks.counts.size());
  for (int i = 0; i < ranks.all; ++i) {
    int rank = isBackwards ? ranks.all - 1 - i : i;
    blocks.counts[static_cast<size_t>(rank)] = length(rank);
    blocks.places[static_cast<size_t>(rank)] = blocks.end * scale;
    blocks.end += length(rank) + rank % 2;
  }
  blocks.types.assign(static_cast<size_t>(ranks.all), MPI_INT);
  return blocks;
}

/// Each rank gets the sum of its part; in place in every fourth call.
void reduceAndScatter(int call, const Ranks &ranks) {
  static std::vector<int> in, out; // at one place in all calls
  std::vector<int> counts, expected;
  in.clear();
  int begin = 0;
  for (int rank = 0; rank < ranks.all; ++rank) {
    counts.push_back(lengthOf(call, 0, rank));
    begin += rank < ranks.self ? counts.back() : 0;
  }
  int all = std::accumulate(counts.begin(), counts.end(), 0), own = counts[size_t(ranks.self)];
  for (int i = 0; i < all; ++i)
    in.push_back(valueOf(call, ranks.self, i));
  bool isInPlace = call / 6 % 4 == 3;
  in.resize(kMost, kGuard);
  out.assign(kMost, kGuard);
  if (isInPlace)
    out = in;
  expected = out;
  for (int i = 0; i < own; ++i)
    expected[size_t(i)] = sumOf(call, ranks.all, begin + i);
  const void *from = in.data();
  MPI_Reduce_scatter(isInPlace ? MPI_IN_PLACE : from, out.data(), counts.data(), MPI_INT, MPI_SUM,
                     MPI_COMM_WORLD);
  // In place, the part of the buffer behind the result is the MPI's.
  if (isInPlace)
    out.resize(size_t(own)), expected.resize(size_t(own));
  ASSERT_EQ(out, expected) << "reduce_scatter, call " << call;
}

/// What this rank sends to each, and what it gets from each, by length and place.
void exchangeLists(int call, CallKind kind, const Ranks &ranks) {
  int root = call % ranks.all;
  if (kind == CallKind::ReduceScatter)
    return reduceAndScatter(call, ranks);
  bool gathers = kind == CallKind::Gatherv || kind == CallKind::Allgatherv;
  bool isRooted = kind == CallKind::Gatherv || kind == CallKind::Scatterv;
  int scale = kind == CallKind::Alltoallw ? static_cast<int>(sizeof(int)) : 1;
  auto length = [&](int from, int to) { // a gathered block is the same for all
    if (kind == CallKind::Scatterv && from != root)
      return 0;
    if (kind == CallKind::Gatherv && to != root)
      return 0;
    return lengthOf(call, from, gathers ? 0 : to);
  };
  Blocks sent =
      blocksOf(ranks, scale, call % 5 == 0, [&](int to) { return length(ranks.self, to); });
  Blocks got =
      blocksOf(ranks, scale, call % 7 == 0, [&](int from) { return length(from, ranks.self); });
  static std::vector<int> in(kMost), out(kMost); // at one place in all calls
  in.assign(kMost, valueOf(call, ranks.self, 0));
  out.assign(kMost, kGuard);
  std::vector<int> expected = out;
  for (int from = 0; from < ranks.all; ++from)
    std::fill_n(expected.begin() + got.places[static_cast<size_t>(from)] / scale,
                got.counts[static_cast<size_t>(from)], valueOf(call, from, 0));
  int own = lengthOf(call, ranks.self, 0), part = length(root, ranks.self);
  if (kind == CallKind::Gatherv)
    MPI_Gatherv(in.data(), own, MPI_INT, out.data(), got.counts.data(), got.places.data(), MPI_INT,
                root, MPI_COMM_WORLD);
  else if (kind == CallKind::Scatterv)
    MPI_Scatterv(in.data(), sent.counts.data(), sent.places.data(), MPI_INT,
                 out.data() + got.places[static_cast<size_t>(root)], part, MPI_INT, root,
                 MPI_COMM_WORLD);
  else if (kind == CallKind::Allgatherv && call / 6 % 4 == 3) {
    std::copy_n(in.begin(), own, out.begin() + got.places[static_cast<size_t>(ranks.self)]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), got.counts.data(),
                   got.places.data(), MPI_INT, MPI_COMM_WORLD);
  } else if (kind == CallKind::Allgatherv)
    MPI_Allgatherv(in.data(), own, MPI_INT, out.data(), got.counts.data(), got.places.data(),
                   MPI_INT, MPI_COMM_WORLD);
  else if (kind == CallKind::Alltoallv)
    MPI_Alltoallv(in.data(), sent.counts.data(), sent.places.data(), MPI_INT, out.data(),
                  got.counts.data(), got.places.data(), MPI_INT, MPI_COMM_WORLD);
  else
    MPI_Alltoallw(in.data(), sent.counts.data(), sent.places.data(), sent.types.data(), out.data(),
                  got.counts.data(), got.places.data(), got.types.data(), MPI_COMM_WORLD);
  ASSERT_EQ(out, expected) << factsOf(kind).name << ", call " << call
                           << (isRooted ? ", with a root" : "");
}

TEST(Resizing, BlocksOfChangingLengths) {
  Ranks ranks;
  uint64_t resized = Summary::all().resized();
  for (int call = 0; call < 600; ++call) {
    constexpr CallKind kListed[] = {CallKind::Gatherv,    CallKind::Scatterv,
                                    CallKind::Allgatherv, CallKind::Alltoallv,
                                    CallKind::Alltoallw,  CallKind::ReduceScatter};
    exchangeLists(call, kListed[call % std::size(kListed)], ranks);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(Summary::all().resized(), resized + 200);
}

// A list with a wrong count, after and before right ones in the same buffers.
TEST(Resizing, WrongListsAreRefused) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> in(kMost, 7), out(kMost);
  uint64_t resized = Summary::all().resized();
  for (int call = 0; call < 200; ++call) {
    bool isWrong = call % 5 == 4;
    int count = isWrong ? -1 : 100 + call, place = call % 3;
    out.assign(kMost, kGuard);
    int code = call % 2 ? MPI_Allgatherv(in.data(), count, MPI_INT, out.data(), &count, &place,
                                         MPI_INT, comm)
                        : MPI_Alltoallv(in.data(), &count, &place, MPI_INT, out.data(), &count,
                                        &place, MPI_INT, comm);
    int errorClass = MPI_SUCCESS;
    MPI_Error_class(code, &errorClass);
    ASSERT_EQ(errorClass, isWrong ? MPI_ERR_COUNT : MPI_SUCCESS) << "call " << call;
    ASSERT_EQ(std::count(out.begin(), out.end(), 7), std::max(count, 0)) << "call " << call;
    ASSERT_EQ(std::count(out.begin(), out.begin() + place, 7), 0) << "call " << call;
  }
  EXPECT_GT(Summary::all().resized(), resized + 100);
  MPI_Comm_free(&comm);
}

void addPairs(void *in, void *inout, int *pairs, MPI_Datatype *) {
  for (int i = 0; i < 2 * *pairs; ++i)
    static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

void largerPairs(void *in, void *inout, int *pairs, MPI_Datatype *) {
  for (int i = 0; i < 2 * *pairs; ++i)
    static_cast<int *>(inout)[i] =
        std::max(static_cast<int *>(inout)[i], static_cast<int *>(in)[i]);
}

// An operator and a type for one call each, as BLACS makes them: no plan each, and what was freed
// is not called.
TEST(Resizing, OperatorsAndTypesOfOneCall) {
  constexpr int kCalls = 200, kPairs = 50;
  Ranks ranks;
  uint64_t prepared = Summary::all().prepared();
  for (int call = 0; call < kCalls; ++call) {
    bool adds = call % 3 != 0;
    int pairs = 1 + call * 7 % kPairs;
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op_create(adds ? addPairs : largerPairs, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::vector<int> in(2 * kPairs, kGuard), out(in.size(), kGuard), expected = out;
    for (int i = 0; i < 2 * pairs; ++i) {
      in[static_cast<size_t>(i)] = valueOf(call, ranks.self, i);
      expected[static_cast<size_t>(i)] =
          adds ? sumOf(call, ranks.all, i) : valueOf(call, ranks.all - 1, i);
    }
    MPI_Allreduce(in.data(), out.data(), pairs, type, op, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    ASSERT_EQ(out, expected) << "call " << call;
  }
  EXPECT_LT(Summary::all().prepared(), prepared + kCalls / 2);
}

TEST(Resizing, OperatorsOfTheMpi) {
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM};
  Ranks ranks;
  for (int call = 0; call < 300; ++call) {
    int count = 1 + call * 11 % 150, op = call % 3;
    std::vector<int> in, out(200, kGuard), expected = out;
    for (int i = 0; i < count; ++i) {
      in.push_back(valueOf(call, ranks.self, i));
      expected[static_cast<size_t>(i)] = op == 0   ? valueOf(call, ranks.all - 1, i)
                                         : op == 1 ? valueOf(call, 0, i)
                                                   : sumOf(call, ranks.all, i);
    }
    MPI_Allreduce(in.data(), out.data(), count, MPI_INT, ops[op], MPI_COMM_WORLD);
    ASSERT_EQ(out, expected) << "call " << call;
  }
}

// Once a call has come a few times, nothing is made, or takes other arguments, for it.
TEST(Resizing, ThirtyDifferentCallsOfEachKindKeepTheirPlans) {
  constexpr int kShapes = 30, kRounds = 10;
  Ranks ranks;
  uint64_t before = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> in(kShapes, 1), out(static_cast<size_t>(kShapes * ranks.all));
  for (int round = 0; round < kRounds; ++round) {
    for (int count = 1; count <= kShapes; ++count) {
      MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
      MPI_Bcast(out.data(), count, MPI_INT, 0, comm);
      MPI_Allgather(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm);
    }
    uint64_t changes = Summary::all().prepared() + Summary::all().resized();
    if (round > kRounds / 2) {
      EXPECT_EQ(changes, before) << "round " << round;
    }
    before = changes;
  }
  MPI_Comm_free(&comm);
}

// Calls that never come again have no operations of their own.
TEST(Resizing, CountsThatNeverComeAgainShareAPlan) {
  constexpr int kCalls = 300;
  Ranks ranks;
  std::vector<int> in(1 << 10), out(in.size() * static_cast<size_t>(ranks.all));
  MPI_Allreduce(in.data(), out.data(), 257, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  uint64_t prepared = Summary::all().prepared();
  for (int call = 0; call < kCalls; ++call)
    MPI_Allreduce(in.data(), out.data(), 258 + call % 250, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  // Counts that come again get operations of their own until all places are taken.
  EXPECT_LE(Summary::all().prepared(), prepared + 64);
}

// An operation whose run is under way keeps its counts.
TEST(Resizing, OperationsInFlightStayAsTheyAre) {
  constexpr int kInFlight = 48, kRounds = 6;
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

// Calls of one kind that differ in counts and places alone are under way at once, with the same
// buffers: each has blocks of its own, with room for kRoom elements.
TEST(Resizing, OperationsInFlightAtTheSameAddresses) {
  constexpr int kInFlight = 5, kRoom = 16, kRounds = 40;
  Ranks ranks;
  auto all = static_cast<size_t>(ranks.all);
  size_t elements = kInFlight * kRoom * all;
  std::vector<int> in(elements), out(elements);
  auto count = [](int call, size_t from, size_t to) {
    return (call * 7 + static_cast<int>(3 * from + 5 * to)) % kRoom;
  };
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<MPI_Request> requests(kInFlight, MPI_REQUEST_NULL);
    std::vector<std::vector<int>> sent(kInFlight), received(kInFlight), places(kInFlight);
    std::vector<int> expected(elements, kGuard);
    out = expected;
    for (size_t at = 0; at < elements; ++at)
      in[at] = valueOf(round, ranks.self, 0) + static_cast<int>(at);
    for (size_t i = 0; i < kInFlight; ++i) {
      int call = round * kInFlight + static_cast<int>(i);
      for (size_t peer = 0; peer < all; ++peer) {
        auto self = static_cast<size_t>(ranks.self);
        sent[i].push_back(count(call, self, peer));
        received[i].push_back(count(call, peer, self));
        places[i].push_back(static_cast<int>(i * all + peer) * kRoom);
        for (int k = 0; k < received[i].back(); ++k)
          expected[static_cast<size_t>(places[i].back() + k)] =
              valueOf(round, static_cast<int>(peer), 0) + static_cast<int>(i * all + self) * kRoom +
              k;
      }
      MPI_Ialltoallv(in.data(), sent[i].data(), places[i].data(), MPI_INT, out.data(),
                     received[i].data(), places[i].data(), MPI_INT, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(kInFlight, requests.data(), MPI_STATUSES_IGNORE);
    ASSERT_EQ(out, expected) << "round " << round;
  }
}

} // namespace
} // namespace colldsl::mpi::test
