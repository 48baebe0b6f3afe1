// Communicators and requests that come and go around operations under way, and wrong calls. Linked
// with the entries themselves, so that what is asked here is asked of them.
#include "mpi/Job.h"
#include "mpi/comm/ServedComm.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace colldsl::mpi::test {
namespace {

struct World {
  int rank = 0, ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

MPI_Comm makeRing() {
  World world;
  int isPeriodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world.ranks, &isPeriodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
}

/// One int each way round the ring.
struct Halo {
  World world;
  int sent[2], got[2] = {-1, -1};

  explicit Halo(int salt) : sent{100 * salt + 2 * world.rank, 100 * salt + 2 * world.rank + 1} {}
  void check(int salt) const {
    int before = (world.rank + world.ranks - 1) % world.ranks;
    int behind = (world.rank + 1) % world.ranks;
    EXPECT_EQ(got[0], 100 * salt + 2 * before + 1);
    EXPECT_EQ(got[1], 100 * salt + 2 * behind);
  }
  MPI_Request start(MPI_Comm ring) {
    MPI_Request request;
    EXPECT_EQ(MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &request),
              MPI_SUCCESS);
    return request;
  }
  void run(MPI_Comm ring) {
    EXPECT_EQ(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring), MPI_SUCCESS);
  }
};

TEST(Life, AFreedCommunicatorEndsItsOperationsFirst) {
  for (int i = 0; i < 20; ++i) {
    MPI_Comm ring = makeRing();
    ASSERT_TRUE(KnownComms::of(ring)->serves(CallKind::NeighborAllgather));
    Halo halo(i);
    MPI_Request request = halo.start(ring);
    MPI_Comm_free(&ring);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    halo.check(i);
  }
}

#ifdef COLLDSL_MPI_SESSIONS
TEST(Life, CommunicatorsOfSessionsAreServedFromTheirFirstMoment) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  ASSERT_EQ(MPI_Comm_create_from_group(group, "life", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
            MPI_SUCCESS);
  MPI_Group_free(&group);
  ASSERT_NE(KnownComms::of(comm), nullptr);
  EXPECT_TRUE(KnownComms::of(comm)->serves(CallKind::Allreduce));
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
#endif

// The same of all ranks' collectives, where the last rank comes late.
TEST(Life, CommunicatorsThatGoEndTheCollectivesOfAllFirst) {
  World world;
  for (int i = 0; i < 20; ++i) {
    int mine = world.rank + i, sum = -1, root = world.rank == 0 ? i : -1, go = 0;
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (world.rank != 0 && world.rank == world.ranks - 1)
      MPI_Recv(&go, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy, &requests[0]);
    MPI_Ibcast(&root, 1, MPI_INT, 0, copy, &requests[1]);
    if (world.rank == 0 && world.ranks > 1)
      MPI_Send(&go, 1, MPI_INT, world.ranks - 1, 7, MPI_COMM_WORLD);
    if (i % 2) {
      MPI_Comm_free(&copy);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Comm_disconnect(&copy);
    }
    EXPECT_EQ(sum, world.ranks * i + world.ranks * (world.ranks - 1) / 2);
    EXPECT_EQ(root, i);
  }
}

// Nonblocking calls, too, which never make a communicator known.
TEST(Life, CommunicatorsOfMpiItselfAreServedFromTheStart) {
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    ASSERT_NE(KnownComms::of(comm), nullptr);
    EXPECT_TRUE(KnownComms::of(comm)->serves(CallKind::Allreduce));
  }
}

// More than there are contexts kept for.
TEST(Life, DuplicatesAreMadeWhileTheOriginalIsAtWork) {
  MPI_Comm ring = makeRing();
  for (int i = 0; i < 20; ++i) {
    Halo first(i), second(i + 50);
    MPI_Request request = first.start(ring);
    MPI_Comm copy;
    if (i % 2) {
      MPI_Comm_dup(ring, &copy);
    } else {
      MPI_Request made;
      MPI_Comm_idup(ring, &copy, &made);
      MPI_Wait(&made, MPI_STATUS_IGNORE);
    }
    second.run(copy);
    second.check(i + 50);
    MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    first.check(i);
  }
  MPI_Comm_free(&ring);
}

int copied = 0, deleted = 0;
int onCopy(MPI_Comm, int, void *, void *value, void *copy, int *isKept) {
  ++copied;
  *static_cast<void **>(copy) = value;
  *isKept = 1;
  return MPI_SUCCESS;
}
int onDelete(MPI_Comm, int, void *, void *) {
  ++deleted;
  return MPI_SUCCESS;
}

TEST(Life, AttributesOfTheProgramAreItsOwn) {
  int key, isThere = 0;
  static int value = 7;
  void *found = nullptr;
  copied = deleted = 0;
  MPI_Comm_create_keyval(onCopy, onDelete, &key, nullptr);
  MPI_Comm ring = makeRing(), copy;
  MPI_Comm_set_attr(ring, key, &value);
  MPI_Comm_dup(ring, &copy);
  MPI_Comm_get_attr(copy, key, &found, &isThere);
  EXPECT_TRUE(isThere && found == &value);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&ring);
  EXPECT_EQ(copied, 1);
  EXPECT_EQ(deleted, 2);
  MPI_Comm_free_keyval(&key);
}

int classOf(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

// Every rank receives less than it is sent: short, through the ring of bytes, and on request.
TEST(Life, CountsThatDifferAreAnErrorOfBothForms) {
  World world;
  if (world.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  MPI_Comm ring = makeRing();
  for (int count : {2, 1000, 200000}) {
    std::vector<int> sent(2 * count), got(2 * count);
    int wrong = world.rank == 0 ? count - 1 : count;
    int code = MPI_Neighbor_alltoall(sent.data(), count, MPI_INT, got.data(), wrong, MPI_INT, ring);
    EXPECT_EQ(classOf(code), world.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    MPI_Request request;
    MPI_Ineighbor_alltoall(sent.data(), count, MPI_INT, got.data(), wrong, MPI_INT, ring, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(classOf(code), world.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  }
  Halo halo(1);
  halo.run(ring);
  halo.check(1);
  MPI_Comm_free(&ring);
}

int told = MPI_SUCCESS;
void onError(MPI_Comm *, int *code, ...) { told = *code; }

TEST(Life, TheProgramsErrorHandlerIsCalled) {
  World world;
  if (world.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  MPI_Comm ring = makeRing();
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(onError, &handler);
  MPI_Comm_set_errhandler(ring, handler);
  told = MPI_SUCCESS;
  int sent[4] = {}, got[4];
  MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, world.rank == 0 ? 1 : 2, MPI_INT, ring);
  EXPECT_EQ(classOf(told), world.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&ring);
}

// Open MPI tells the handler of MPI_COMM_WORLD.
TEST(Life, ACommunicatorWithoutATopologyIsTheMpisToRefuse) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  int sent[2] = {}, got[2];
  EXPECT_NE(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, copy), MPI_SUCCESS);
  EXPECT_FALSE(KnownComms::of(copy)->serves(CallKind::NeighborAlltoall));
  EXPECT_TRUE(KnownComms::of(copy)->serves(CallKind::Alltoall));
  MPI_Comm_free(&copy);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// Neighbourhood calls of the first are wrong, and MPICH aborts.
TEST(Life, InterCommunicatorsAreNotKnownAndMergedOnesServed) {
  World world;
  if (world.ranks == 1)
    GTEST_SKIP() << "a single rank cannot be apart from another";
  bool isFirst = world.rank == 0;
  MPI_Comm half, both, merged, ring;
  MPI_Comm_split(MPI_COMM_WORLD, isFirst, world.rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, isFirst ? 1 : 0, 5, &both);
  EXPECT_EQ(KnownComms::of(both), nullptr);
  int isPeriodic = 1;
  MPI_Intercomm_merge(both, !isFirst, &merged);
  MPI_Cart_create(merged, 1, &world.ranks, &isPeriodic, 0, &ring);
  EXPECT_TRUE(KnownComms::of(ring)->serves(CallKind::NeighborAllgather));
  Halo halo(3);
  halo.run(ring);
  halo.check(3);
  for (MPI_Comm *comm : {&ring, &merged, &both, &half})
    MPI_Comm_free(comm);
}

TEST(Life, TheEndOfAForkedChildDisturbsNoRank) {
  MPI_Comm ring = makeRing();
  Halo halo(4);
  MPI_Request request = halo.start(ring);
  pid_t child = fork();
  if (child == 0)
    std::exit(0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  halo.check(4);
  MPI_Comm_free(&ring);
}

// The contexts that are kept run out five times: there are 4 for each graph at first, and twice as
// many each time.
TEST(Life, ShortLivedGraphsAreServedAsLongAsTheyCome) {
  World world;
  int before = (world.rank + world.ranks - 1) % world.ranks;
  int behind = (world.rank + 1) % world.ranks;
  int sources[2] = {before, behind}, targets[2] = {behind, before};
  for (int i = 0; i < 130; ++i) {
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    int sent[2] = {i + 2 * world.rank, i + 2 * world.rank + 1}, got[2] = {-1, -1};
    ASSERT_EQ(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, graph), MPI_SUCCESS);
    ASSERT_EQ(got[0], i + 2 * before);
    ASSERT_EQ(got[1], i + 2 * behind + 1);
    MPI_Comm_free(&graph);
  }
}

/// What the function adds to each sum, it finds in an attribute of the datatype.
int extraKey = MPI_KEYVAL_INVALID;
int typesDeleted = 0;
int onTypeDelete(MPI_Datatype, int, void *, void *) {
  ++typesDeleted;
  return MPI_SUCCESS;
}
void addMore(void *in, void *inout, int *count, MPI_Datatype *type) {
  int *extra = nullptr, isThere = 0;
  MPI_Type_get_attr(*type, extraKey, &extra, &isThere);
  for (int i = 0; i < 3 * *count; i += 3)
    static_cast<int *>(inout)[i] += static_cast<int *>(in)[i] + (isThere ? *extra : 1000000);
}

/// Every third int.
MPI_Datatype makeThird() {
  MPI_Datatype third;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third);
  MPI_Type_commit(&third);
  return third;
}

// The others contribute once rank 0 has freed both. Types made meanwhile may get a freed handle.
TEST(Life, ReductionsKeepFreedOperators) {
  World world;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, onTypeDelete, &extraKey, nullptr);
  typesDeleted = 0;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    int extra = round, go = 0;
    std::vector<int> mine(3 * 1000, world.rank + 1), sum(mine.size(), -7);
    MPI_Op op;
    MPI_Op_create(addMore, 1, &op);
    MPI_Datatype third = makeThird();
    MPI_Type_set_attr(third, extraKey, &extra);
    if (world.rank != 0)
      MPI_Recv(&go, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Ireduce(mine.data(), sum.data(), 1000, third, op, 0, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&third);
    EXPECT_EQ(third, MPI_DATATYPE_NULL);
    for (int peer = 1; world.rank == 0 && peer < world.ranks; ++peer)
      MPI_Send(&go, 1, MPI_INT, peer, 8, MPI_COMM_WORLD);
    MPI_Datatype other = makeThird();
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Type_free(&other);
    EXPECT_EQ(typesDeleted, round + 1);
    int wanted = world.ranks * (world.ranks + 1) / 2 + (world.ranks - 1) * extra;
    EXPECT_EQ(sum[3 * 999], world.rank == 0 ? wanted : -7) << round;
    EXPECT_EQ(sum[1], -7);
  }
  MPI_Type_free_keyval(&extraKey);
}

// More places than operations are remembered for; in flight together, too.
TEST(Life, ShortCallsAreServedWhereverTheirBuffersAre) {
  World world;
  constexpr int kPlaces = 40, kInFlight = 5;
  std::vector<int> in(2 * kPlaces), sum(in.size()),
      all(in.size() * static_cast<size_t>(world.ranks));
  auto at = [](std::vector<int> &values, int place, int ints) {
    return &values[static_cast<size_t>(place * ints)];
  };
  for (int round = 0; round < 3; ++round) {
    for (int place = 0; place < kPlaces; ++place)
      in[static_cast<size_t>(2 * place)] = 100 * round + place + world.rank;
    for (int place = 0; place < kPlaces; ++place)
      MPI_Allreduce(at(in, place, 2), at(sum, place, 2), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<MPI_Request> requests(kInFlight);
    for (int place = 0; place < kPlaces; place += kInFlight) {
      for (int i = 0; i < kInFlight; ++i)
        MPI_Iallgather(at(in, place + i, 2), 2, MPI_INT, at(all, place + i, 2 * world.ranks), 2,
                       MPI_INT, MPI_COMM_WORLD, &requests[static_cast<size_t>(i)]);
      MPI_Waitall(kInFlight, requests.data(), MPI_STATUSES_IGNORE);
    }
    for (int place = 0; place < kPlaces; ++place) {
      int own = 100 * round + place;
      EXPECT_EQ(*at(sum, place, 2), world.ranks * own + world.ranks * (world.ranks - 1) / 2);
      for (int r = 0; r < world.ranks; ++r)
        EXPECT_EQ(at(all, place, 2 * world.ranks)[2 * r], own + r) << place;
    }
  }
}

/// Where a rank has its buffers in a round. Those of rank 1 change, and those of rank 2 less often.
size_t placeOf(int rank, int round) {
  return rank == 1   ? static_cast<size_t>(round % 7)
         : rank == 2 ? static_cast<size_t>(round / 4)
                     : 0;
}

/// A call of so many ints, sent from one place and received in another; some are in place.
struct Moving {
  World world;
  size_t ints;
  std::vector<int> out, in;
  int *sent = nullptr, *got = nullptr;

  explicit Moving(size_t count)
      : ints(count), out(8 * ints * static_cast<size_t>(world.ranks)), in(out.size()) {}
  int value(int rank, int round, int slot) const { return 1000 * round + 10 * rank + slot; }
  void place(int round) {
    size_t at = placeOf(world.rank, round) * ints * static_cast<size_t>(world.ranks);
    sent = &out[at];
    got = &in[at];
    std::fill(out.begin(), out.end(), -5);
    std::fill(in.begin(), in.end(), -5);
    for (int slot = 0; slot < world.ranks; ++slot)
      std::fill_n(sent + static_cast<size_t>(slot) * ints, ints, value(world.rank, round, slot));
  }
  /// Slot by slot; and what is not of this place is as it was.
  template <typename Expected> void check(int slots, Expected expected) const {
    size_t begin = static_cast<size_t>(got - in.data());
    for (size_t i = 0; i < in.size(); ++i) {
      bool isHere = i >= begin && i < begin + static_cast<size_t>(slots) * ints;
      int slot = static_cast<int>((i - begin) / ints);
      ASSERT_EQ(in[i], isHere ? expected(slot) : -5) << "int " << i << ", from " << begin;
    }
  }
};

// Nothing else is called between them, so that one operation goes from place to place.
TEST(Life, NeighborsAreServedWhereverTheBuffersAre) {
  MPI_Comm ring = makeRing();
  for (size_t ints : {1, 3000, 30000}) {
    Moving m(ints);
    int count = static_cast<int>(ints), self = m.world.rank, ranks = m.world.ranks;
    int peers[2] = {(self + ranks - 1) % ranks, (self + 1) % ranks};
    for (int round = 0; ranks > 1 && round < 9; ++round) {
      m.place(round);
      MPI_Neighbor_allgather(m.sent, count, MPI_INT, m.got, count, MPI_INT, ring);
      m.check(2, [&](int slot) { return m.value(peers[slot], round, 0); });
    }
  }
  MPI_Comm_free(&ring);
}

// Short, long, in blocks of their own, of scattered elements; along edges too. Other ranks' buffers
// stay where they are.
TEST(Life, CallsAreServedWhereverTheBuffersOfSomeRanksAre) {
  MPI_Comm ring = makeRing();
  for (size_t ints : {1, 3000, 9000}) {
    Moving m(ints);
    int count = static_cast<int>(ints), self = m.world.rank, ranks = m.world.ranks;
    MPI_Datatype scattered;
    MPI_Type_vector(count, 1, 2, MPI_INT, &scattered);
    MPI_Type_commit(&scattered);
    std::vector<int> counts(static_cast<size_t>(ranks), count), at;
    for (int r = 0; r < ranks; ++r)
      at.push_back(r * count);
    for (int round = 0; round < 9; ++round) {
      SCOPED_TRACE(testing::Message() << ints << " ints, round " << round);
      m.place(round);
      MPI_Allreduce(m.sent, m.got, count, MPI_INT, MPI_SUM, ring);
      m.check(1, [&](int) {
        int sum = 0;
        for (int r = 0; r < ranks; ++r)
          sum += m.value(r, round, 0);
        return sum;
      });
      m.place(round);
      MPI_Alltoall(m.sent, count, MPI_INT, m.got, count, MPI_INT, ring);
      m.check(ranks, [&](int slot) { return m.value(slot, round, self); });
      m.place(round);
      MPI_Alltoallv(m.sent, counts.data(), at.data(), MPI_INT, m.got, counts.data(), at.data(),
                    MPI_INT, ring);
      m.check(ranks, [&](int slot) { return m.value(slot, round, self); });
      m.place(round);
      std::copy_n(m.sent, ints, m.got + at[static_cast<size_t>(self)]);
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, m.got, count, MPI_INT, ring);
      m.check(ranks, [&](int slot) { return m.value(slot, round, 0); });
      m.place(round);
      MPI_Gather(m.sent, count, MPI_INT, m.got, count, MPI_INT, 0, ring);
      m.check(self == 0 ? ranks : 0, [&](int slot) { return m.value(slot, round, 0); });
      m.place(round);
      MPI_Neighbor_allgather(m.sent, count, MPI_INT, m.got, count, MPI_INT, ring);
      int peers[2] = {(self + ranks - 1) % ranks, (self + 1) % ranks};
      if (ranks > 1)
        m.check(2, [&](int slot) { return m.value(peers[slot], round, 0); });
      m.place(round);
      if (ranks > 1) {
        MPI_Neighbor_allgather(m.sent, 1, scattered, m.got, count, MPI_INT, ring);
        for (size_t i = 0; i < 2 * ints; ++i)
          ASSERT_EQ(m.got[i],
                    m.value(peers[i / ints], round, static_cast<int>(i % ints * 2 / ints)));
      }
    }
    MPI_Type_free(&scattered);
  }
  MPI_Comm_free(&ring);
}

} // namespace
} // namespace colldsl::mpi::test
