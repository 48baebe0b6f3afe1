// Neighbour calls along graphs whose messages between nodes passes combine: lengths that only two
// ranks know, wrong ones too; many calls under way; a way that all ranks decide on alike.
#include "mpi/Real.h"
#include "mpi/comm/NeighborGraph.h"
#include "mpi/comm/ServedComm.h"

#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace colldsl::mpi::test {
namespace {

int classOf(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

/// Rank 0 and each other rank are neighbours, twice; errors are returned.
struct Hub {
  int rank = 0, ranks = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> peers;

  Hub() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int time = 0; time < 2; ++time)
      for (int peer = rank == 0 ? 1 : 0; peer < (rank == 0 ? ranks : 1); ++peer)
        peers.push_back(peer);
    auto degree = static_cast<int>(peers.size());
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, peers.data(), MPI_UNWEIGHTED, degree,
                                   peers.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~Hub() { MPI_Comm_free(&comm); }
  Hub(const Hub &) = delete;

  /// Null: nothing is changed.
  std::shared_ptr<const GraphExchange> way(bool sendsSame) const {
    ServedComm *served = KnownComms::of(comm);
    return served->topology().graph() ? served->topology().graph()->exchange(sendsSame) : nullptr;
  }
};

/// So many ints between rank 0 and another rank, along the first or the second edge between them.
using Counts = std::function<int(int other, int edge)>;

int valueOf(int from, int to, int edge, int call, int i) {
  return ((from * 64 + to) * 2 + edge) * 100000 + call * 10 + i % 7;
}

/// An MPI_Neighbor_alltoallv with its data; counts of both directions are alike.
class Call {
public:
  Call(const Hub &hub, const Counts &sent, const Counts &received, int number)
      : hub_(hub), number_(number) {
    for (size_t slot = 0; slot < hub.peers.size(); ++slot) {
      int other = hub.rank == 0 ? hub.peers[slot] : hub.rank;
      out_.push_back(sent(other, edgeOf(slot)));
      in_.push_back(received(other, edgeOf(slot)));
      outAt_.push_back(static_cast<int>(sent_.size()));
      inAt_.push_back(static_cast<int>(got_.size()));
      for (int i = 0; i < out_.back(); ++i)
        sent_.push_back(valueOf(hub.rank, hub.peers[slot], edgeOf(slot), number, i));
      got_.insert(got_.end(), static_cast<size_t>(in_.back()), -1);
    }
  }

  int block() {
    return MPI_Neighbor_alltoallv(sent_.data(), out_.data(), outAt_.data(), MPI_INT, got_.data(),
                                  in_.data(), inAt_.data(), MPI_INT, hub_.comm);
  }
  int begin() {
    return MPI_Ineighbor_alltoallv(sent_.data(), out_.data(), outAt_.data(), MPI_INT, got_.data(),
                                   in_.data(), inAt_.data(), MPI_INT, hub_.comm, &request);
  }
  int initialize() {
    return COLLDSL_MPI_PERSISTENT(Neighbor_alltoallv_init)(
        sent_.data(), out_.data(), outAt_.data(), MPI_INT, got_.data(), in_.data(), inAt_.data(),
        MPI_INT, hub_.comm, MPI_INFO_NULL, &request);
  }

  void refuseCounts() { out_.assign(out_.size(), -1); }

  /// What came is what the peers sent.
  bool isRight() const {
    for (size_t slot = 0; slot < hub_.peers.size(); ++slot)
      for (int i = 0; i < in_[slot]; ++i)
        if (got_[static_cast<size_t>(inAt_[slot] + i)] !=
            valueOf(hub_.peers[slot], hub_.rank, edgeOf(slot), number_, i))
          return false;
    return true;
  }

  MPI_Request request = MPI_REQUEST_NULL;

private:
  int edgeOf(size_t slot) const { return slot < hub_.peers.size() / 2 ? 0 : 1; }

  const Hub &hub_;
  int number_;
  std::vector<int> out_, in_, outAt_, inAt_, sent_, got_;
};

Counts always(int count) {
  return [count](int, int) { return count; };
}

/// True if messages between nodes can be combined: there are several nodes, one of which has
/// several ranks.
bool canCombine() {
  auto here = static_cast<int>(Job::current()->worker().numRanks());
  int most = 0;
  MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return Job::current()->remote() && most > 1;
}

TEST(Graphs, AllRanksDecideAlike) {
  Hub hub;
  bool isWayMade = canCombine() && hub.ranks > 4;
  for (bool sendsSame : {false, true}) {
    auto way = hub.way(sendsSame);
    EXPECT_EQ(way != nullptr, isWayMade);
    uint64_t mine[2] = {way ? way->capacityBytes : 0, way ? way->afterNs : 0}, most[2], least[2];
    MPI_Allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_EQ(most[0], least[0]);
    EXPECT_EQ(most[1], least[1]);
  }
}

// Some messages are combined and others go straight, in the same call.
TEST(Graphs, EachEdgeHasItsOwnLength) {
  Hub hub;
  for (int number = 0; number < 30; ++number) {
    Counts counts = [&](int other, int edge) {
      constexpr int kCounts[] = {0, 1, 3, 2047, 2048, 4095, 4096, 4097, 0, 20000, 100000};
      return kCounts[(other * 5 + edge * 3 + number) % 11];
    };
    Call call(hub, counts, counts, number);
    EXPECT_EQ(call.block(), MPI_SUCCESS);
    EXPECT_TRUE(call.isRight()) << number;
  }
}

// The last rank sends what rank 0 does not expect. No other rank notices, and later calls are
// right.
TEST(Graphs, AWrongLengthIsFound) {
  Hub hub;
  if (hub.ranks < 2)
    GTEST_SKIP() << "a single rank has no neighbour";
  auto run = [&](int sent, int received, bool isBlocking) {
    auto counts = [&](int count, int from) {
      return [=, &hub](int other, int) {
        return hub.rank == from && other == hub.ranks - 1 ? count : 4;
      };
    };
    Call call(hub, counts(sent, hub.ranks - 1), counts(received, 0), 0);
    int code = isBlocking ? call.block() : call.begin();
    return classOf(isBlocking ? code : MPI_Wait(&call.request, MPI_STATUS_IGNORE));
  };
  for (bool isBlocking : {true, false}) {
    EXPECT_EQ(run(5, 4, isBlocking), hub.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(run(4, 5, isBlocking), hub.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(run(0, 4, isBlocking), hub.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(run(4, 0, isBlocking), MPI_SUCCESS);
    Call right(hub, always(4), always(4), 1);
    EXPECT_EQ(right.block(), MPI_SUCCESS);
    EXPECT_TRUE(right.isRight());
  }
}

// A rank whose arguments are wrong may have relayed messages of others, which do not wait for it.
TEST(Graphs, AWrongArgumentIsNotAwaited) {
  Hub hub;
  if (hub.ranks < 2)
    GTEST_SKIP() << "a single rank has no neighbour";
  for (int wrong = 0; wrong < hub.ranks; ++wrong) {
    int count = hub.rank == wrong ? -1 : 2;
    std::vector<int> sent(2 * hub.peers.size() + 1), got(sent.size());
    int code = MPI_Neighbor_alltoall(sent.data(), count, MPI_INT, got.data(), 2, MPI_INT, hub.comm);
    if (hub.rank == wrong) {
      EXPECT_EQ(classOf(code), MPI_ERR_COUNT);
    }
    Call right(hub, always(4), always(4), wrong);
    EXPECT_EQ(right.block(), MPI_SUCCESS);
    EXPECT_TRUE(right.isRight()) << wrong;
  }
}

// A rank whose persistent call is refused takes part in no run of it. The others' runs end, however
// often they start it.
TEST(Graphs, ARefusedPersistentCallIsNotAwaited) {
  Hub hub;
  if (hub.ranks < 2)
    GTEST_SKIP() << "a single rank has no neighbour";
  for (int wrong = 0; wrong < hub.ranks; ++wrong) {
    Call call(hub, always(2), always(2), wrong);
    if (hub.rank == wrong) {
      call.refuseCounts();
      EXPECT_EQ(classOf(call.initialize()), MPI_ERR_COUNT);
    } else {
      EXPECT_EQ(call.initialize(), MPI_SUCCESS);
      for (int run = 0; run < 3; ++run) {
        EXPECT_EQ(MPI_Start(&call.request), MPI_SUCCESS);
        int code = MPI_Wait(&call.request, MPI_STATUS_IGNORE);
        if (wrong == 0 || hub.rank == 0) {
          EXPECT_NE(code, MPI_SUCCESS) << wrong << ", run " << run;
        }
      }
      MPI_Request_free(&call.request);
    }
    MPI_Barrier(hub.comm); // one of the first calls: passed on
    Call right(hub, always(4), always(4), wrong);
    EXPECT_EQ(right.block(), MPI_SUCCESS);
    EXPECT_TRUE(right.isRight()) << wrong;
  }
}

// Nonblocking calls under way, other collectives and a duplicate between them, persistent calls
// that are started in turns; completed from the last to the first.
TEST(Graphs, ManyCallsAreUnderWay) {
  Hub hub;
  MPI_Comm copy;
  MPI_Comm_dup(hub.comm, &copy);
  std::vector<std::unique_ptr<Call>> calls;
  for (int number = 0; number < 12; ++number) {
    calls.push_back(std::make_unique<Call>(hub, always(number), always(number), number));
    EXPECT_EQ(calls.back()->begin(), MPI_SUCCESS);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, number % 2 ? hub.comm : copy);
    EXPECT_EQ(sum, hub.ranks);
  }
  Call first(hub, always(3), always(3), 20), second(hub, always(5000), always(5000), 21);
  first.initialize();
  second.initialize();
  for (int round = 0; round < 4; ++round) {
    Call *order[] = {&first, &second};
    if (hub.rank % 2)
      std::swap(order[0], order[1]);
    for (Call *call : order)
      EXPECT_EQ(MPI_Start(&call->request), MPI_SUCCESS);
    for (Call *call : {&second, &first})
      EXPECT_EQ(MPI_Wait(&call->request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(first.isRight() && second.isRight());
  }
  MPI_Request_free(&first.request);
  MPI_Request_free(&second.request);
  for (size_t i = calls.size(); i-- > 0;) {
    EXPECT_EQ(MPI_Wait(&calls[i]->request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(calls[i]->isRight()) << i;
  }
  MPI_Comm_free(&copy);
}

} // namespace
} // namespace colldsl::mpi::test
