// Arguments that are wrong, or unlike, on one rank: it gets the MPI's error, the others do not wait
// for it, and the next call works.
#include "mpi/Mpi.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace colldsl::mpi::test {
namespace {

int classOf(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

class Arguments : public testing::Test {
protected:
  Arguments() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
  }
  ~Arguments() override { MPI_Comm_free(&comm_); }

  void expectSum() {
    for (int round = 0; round < 6; ++round) {
      int sum = -1;
      EXPECT_EQ(MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, comm_), MPI_SUCCESS);
      EXPECT_EQ(sum, ranks_ * (ranks_ - 1) / 2);
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
};

// One rank is its own source, and not its own destination, or the other way round.
TEST_F(Arguments, EdgesToTheRankItselfDisagree) {
  for (bool isSource : {true, false}) {
    int peers[2] = {rank_, (rank_ + 1) % ranks_};
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, isSource, peers, MPI_UNWEIGHTED, !isSource,
                                   peers, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    for (int round = 0; round < 3; ++round) {
      int sent = rank_, got = -1;
      MPI_Request request = MPI_REQUEST_NULL;
      EXPECT_EQ(classOf(MPI_Neighbor_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, graph)),
                MPI_ERR_TOPOLOGY);
      EXPECT_EQ(classOf(MPI_Neighbor_allgather(&sent, 1, MPI_INT, &got, 1, MPI_INT, graph)),
                MPI_ERR_TOPOLOGY);
      EXPECT_EQ(
          classOf(MPI_Ineighbor_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, graph, &request)),
          MPI_ERR_TOPOLOGY);
      EXPECT_EQ(request, MPI_REQUEST_NULL);
    }
    MPI_Comm_free(&graph);
  }
}

// MPI_DATATYPE_NULL for what is not sent, on rank 1 alone: PnetCDF does so.
TEST_F(Arguments, ABlockWithoutBytesHasAnyType) {
  auto all = static_cast<size_t>(ranks_);
  std::vector<int> sent(all, rank_), got(all), counts(all), places(all);
  std::vector<MPI_Datatype> types(all, rank_ == 1 ? MPI_DATATYPE_NULL : MPI_INT);
  for (size_t r = 0; r < all; ++r) {
    counts[r] = rank_ != 1 && r != 1;
    places[r] = static_cast<int>(r * sizeof(int));
  }
  for (int round = 0; round < 6; ++round) {
    std::fill(got.begin(), got.end(), -1);
    EXPECT_EQ(MPI_Alltoallw(sent.data(), counts.data(), places.data(), types.data(), got.data(),
                            counts.data(), places.data(), types.data(), comm_),
              MPI_SUCCESS);
    for (size_t r = 0; r < all; ++r)
      EXPECT_EQ(got[r], counts[r] ? static_cast<int>(r) : -1);
    MPI_Request request;
    EXPECT_EQ(MPI_Ialltoallw(sent.data(), counts.data(), places.data(), types.data(), got.data(),
                             counts.data(), places.data(), types.data(), comm_, &request),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  expectSum();
  for (int &place : places)
    place /= static_cast<int>(sizeof(int));
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(MPI_Alltoallv(sent.data(), counts.data(), places.data(), types[0], got.data(),
                            counts.data(), places.data(), types[0], comm_),
              MPI_SUCCESS);
  expectSum();
}

TEST_F(Arguments, OfNeighborsABlockWithoutBytesHasAnyType) {
  int isPeriodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks_, &isPeriodic, 0, &ring);
  int sent[2] = {rank_, rank_}, got[2], none[2] = {0, 0};
  MPI_Aint places[2] = {0, sizeof(int)};
  MPI_Datatype types[2] = {rank_ == 1 ? MPI_DATATYPE_NULL : MPI_INT, MPI_INT};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(MPI_Neighbor_alltoallw(sent, none, places, types, got, none, places, types, ring),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Neighbor_alltoall(sent, 0, types[0], got, 0, types[0], ring), MPI_SUCCESS);
    EXPECT_EQ(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring), MPI_SUCCESS);
  }
  MPI_Comm_free(&ring);
}

// All ranks, without MPI_IN_PLACE, at places that change: Open MPI takes it.
TEST_F(Arguments, TheOwnBlockIsInTheBufferOfAnAllgather) {
  auto all = static_cast<size_t>(ranks_);
  for (int round = 0; round < 8; ++round) {
    std::vector<std::vector<int>> buffers(4, std::vector<int>(all, -1));
    for (std::vector<int> &got : buffers) {
      got[static_cast<size_t>(rank_)] = rank_ + round;
      int code = MPI_Allgather(&got[static_cast<size_t>(rank_)], 1, MPI_INT, got.data(), 1, MPI_INT,
                               comm_);
      if (COLLDSL_MPICH != 0) {
        EXPECT_EQ(classOf(code), MPI_ERR_BUFFER);
        continue;
      }
      EXPECT_EQ(code, MPI_SUCCESS);
      for (int r = 0; r < ranks_; ++r)
        EXPECT_EQ(got[static_cast<size_t>(r)], r + round);
    }
  }
  expectSum();
}

// In the first call with a datatype.
TEST_F(Arguments, AnAliasIsSeenInTheFirstCall) {
  std::vector<signed char> got(static_cast<size_t>(ranks_));
  int code = MPI_Allgather(&got[static_cast<size_t>(rank_)], 1, MPI_SIGNED_CHAR, got.data(), 1,
                           MPI_SIGNED_CHAR, comm_);
  EXPECT_EQ(classOf(code), COLLDSL_MPICH != 0 ? MPI_ERR_BUFFER : MPI_SUCCESS);
}

// Only the root of a gather, and only some of the bytes: both MPIs take that.
TEST_F(Arguments, BuffersOverlapOnOneRank) {
  auto all = static_cast<size_t>(ranks_);
  for (int root = 0; root < ranks_; ++root)
    for (int shift = 0; shift < 2; ++shift) {
      std::vector<int> got(3 * all + 3, -1), own(2, rank_);
      int *sent = rank_ == root ? got.data() + 2 * root + 1 + shift : own.data();
      sent[0] = sent[1] = rank_;
      EXPECT_EQ(MPI_Gather(sent, 2, MPI_INT, got.data(), 2, MPI_INT, root, comm_), MPI_SUCCESS);
      for (int i = 0; rank_ == root && i < 2 * ranks_; ++i)
        EXPECT_EQ(got[static_cast<size_t>(i)], i / 2);
    }
  std::vector<int> both(4, rank_);
  EXPECT_EQ(MPI_Allreduce(both.data() + 1, both.data(), 3, MPI_INT, MPI_SUM, comm_), MPI_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(both[static_cast<size_t>(i)], ranks_ * (ranks_ - 1) / 2);
  // Where the buffers were apart in the call before.
  std::vector<int> apart(8, rank_);
  for (int at : {5, 4, 1, 0, 5}) {
    std::fill(apart.begin(), apart.end(), rank_);
    if (at == 0)
      continue; // an alias that MPICH refuses
    EXPECT_EQ(MPI_Allreduce(apart.data() + at, apart.data(), 3, MPI_INT, MPI_SUM, comm_),
              MPI_SUCCESS);
    EXPECT_EQ(apart[1], ranks_ * (ranks_ - 1) / 2) << at;
  }
}

// What this rank does not receive needs no memory.
TEST_F(Arguments, WhereNothingComesThereIsNoBuffer) {
  std::vector<int> sent(static_cast<size_t>(ranks_), 1), counts(sent.size(), 1), places(counts);
  counts.back() = 0;
  std::iota(places.begin(), places.end(), 0);
  int got = 0;
  bool isLast = rank_ == ranks_ - 1;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(MPI_Reduce_scatter(sent.data(), isLast ? nullptr : &got, counts.data(), MPI_INT,
                                 MPI_SUM, comm_),
              MPI_SUCCESS);
    EXPECT_EQ(got, isLast ? 0 : ranks_);
    bool needsNone = rank_ == 0 && COLLDSL_MPICH == 0;
    EXPECT_EQ(MPI_Exscan(sent.data(), needsNone ? nullptr : &got, 1, MPI_INT, MPI_SUM, comm_),
              MPI_SUCCESS);
    got = 0;
    EXPECT_EQ(MPI_Scatterv(sent.data(), counts.data(), places.data(), MPI_INT,
                           isLast ? nullptr : &got, isLast ? 0 : 1, MPI_INT, 0, comm_),
              MPI_SUCCESS);
  }
}

/// A call with an argument that is wrong.
struct Wrong {
  const char *name;
  int (*call)(int *sent, int *got, int ranks, MPI_Comm comm);
};

constexpr Wrong kWrong[] = {
    {"bcast, root", [](int *, int *got, int ranks,
                       MPI_Comm comm) { return MPI_Bcast(got, 1, MPI_INT, ranks, comm); }},
    {"bcast, type", [](int *, int *got, int,
                       MPI_Comm comm) { return MPI_Bcast(got, 1, MPI_DATATYPE_NULL, 0, comm); }},
    {"bcast, count",
     [](int *, int *got, int, MPI_Comm comm) { return MPI_Bcast(got, -1, MPI_INT, 0, comm); }},
    {"bcast, buffer",
     [](int *, int *, int, MPI_Comm comm) { return MPI_Bcast(nullptr, 1, MPI_INT, 0, comm); }},
    {"allreduce, operator",
     [](int *sent, int *got, int, MPI_Comm comm) {
       return MPI_Allreduce(sent, got, 1, MPI_INT, MPI_OP_NULL, comm);
     }},
    {"allreduce, count",
     [](int *sent, int *got, int, MPI_Comm comm) {
       return MPI_Allreduce(sent, got, -1, MPI_INT, MPI_SUM, comm);
     }},
    {"allgather, in place",
     [](int *sent, int *, int, MPI_Comm comm) {
       return MPI_Allgather(sent, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm);
     }},
    {"alltoallv, lists",
     [](int *sent, int *got, int, MPI_Comm comm) {
       return MPI_Alltoallv(sent, nullptr, nullptr, MPI_INT, got, nullptr, nullptr, MPI_INT, comm);
     }},
    {"iallreduce, request",
     [](int *sent, int *got, int, MPI_Comm comm) {
       return MPI_Iallreduce(sent, got, 1, MPI_INT, MPI_SUM, comm, nullptr);
     }},
};

/// The same call as it is right, for ranks that cannot know.
int callRight(const Wrong &wrong, int *sent, int *got, int ranks, MPI_Comm comm) {
  std::vector<int> counts(static_cast<size_t>(ranks), 1), places(counts.size());
  std::iota(places.begin(), places.end(), 0);
  std::string_view name = wrong.name;
  if (name.starts_with("bcast"))
    return MPI_Bcast(got, 1, MPI_INT, 0, comm);
  if (name.starts_with("allreduce"))
    return MPI_Allreduce(sent, got, 1, MPI_INT, MPI_SUM, comm);
  if (name.starts_with("allgather"))
    return MPI_Allgather(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  if (name.starts_with("alltoallv"))
    return MPI_Alltoallv(sent, counts.data(), places.data(), MPI_INT, got, counts.data(),
                         places.data(), MPI_INT, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Iallreduce(sent, got, 1, MPI_INT, MPI_SUM, comm, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

TEST_F(Arguments, OneRankIsWrong) {
  std::vector<int> sent(static_cast<size_t>(ranks_), rank_), got(sent.size());
  for (const Wrong &wrong : kWrong)
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(wrong.name);
      if (rank_ == ranks_ - 1)
        EXPECT_NE(wrong.call(sent.data(), got.data(), ranks_, comm_), MPI_SUCCESS);
      else
        (void)callRight(wrong, sent.data(), got.data(), ranks_, comm_); // may have ended before
      EXPECT_EQ(callRight(wrong, sent.data(), got.data(), ranks_, comm_), MPI_SUCCESS);
      expectSum();
    }
}

TEST_F(Arguments, AllRanksAreWrong) {
  std::vector<int> sent(static_cast<size_t>(ranks_), rank_), got(sent.size());
  for (const Wrong &wrong : kWrong)
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE(wrong.name);
      EXPECT_NE(wrong.call(sent.data(), got.data(), ranks_, comm_), MPI_SUCCESS);
      EXPECT_EQ(callRight(wrong, sent.data(), got.data(), ranks_, comm_), MPI_SUCCESS);
    }
}

} // namespace
} // namespace colldsl::mpi::test
