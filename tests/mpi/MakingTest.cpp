// All ways in which a program makes communicators of one on which collectives were served: each has
// its own ranks and its own messages, whichever attributes an MPI copies. Linked with the entries
// themselves.
#include "mpi/comm/ServedComm.h"

#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <numeric>

namespace colldsl::mpi::test {
namespace {

constexpr int kTag = 11;

int rankOf(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int sizeOf(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Every second rank of `comm`, from the first or the second on.
MPI_Group everySecond(MPI_Comm comm, int first) {
  std::vector<int> ranks;
  for (int r = first; r < sizeOf(comm); r += 2)
    ranks.push_back(r);
  MPI_Group all, some;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

struct Way {
  const char *name;
  /// MPI_COMM_NULL: this rank is not in it.
  std::function<MPI_Comm(MPI_Comm)> make;
};

MPI_Comm createEven(MPI_Comm old) {
  MPI_Group even = everySecond(old, 0);
  MPI_Comm made;
  MPI_Comm_create(old, even, &made);
  MPI_Group_free(&even);
  return made;
}

// The group excludes the other ranks, which do not call.
MPI_Comm createGroup(MPI_Comm old) {
  if (sizeOf(old) == 1) // the first group has a rank
    return createEven(old);
  MPI_Group mine = everySecond(old, rankOf(old) % 2);
  MPI_Comm made = MPI_COMM_NULL;
  if (rankOf(old) % 2 == 0)
    MPI_Comm_create_group(old, mine, kTag, &made);
  MPI_Group_free(&mine);
  return made;
}

MPI_Comm createWholeGroup(MPI_Comm old) {
  MPI_Group all;
  MPI_Comm made;
  MPI_Comm_group(old, &all);
  MPI_Comm_create_group(old, all, kTag, &made);
  MPI_Group_free(&all);
  return made;
}

MPI_Comm split(MPI_Comm old) {
  MPI_Comm made;
  MPI_Comm_split(old, rankOf(old) % 2, -rankOf(old), &made);
  return made;
}

MPI_Comm splitOff(MPI_Comm old) {
  MPI_Comm made;
  MPI_Comm_split(old, rankOf(old) == 0 ? MPI_UNDEFINED : 0, 0, &made);
  return made;
}

MPI_Comm splitType(MPI_Comm old) {
  MPI_Comm made;
  MPI_Comm_split_type(old, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  return made;
}

MPI_Comm dup(MPI_Comm old) {
  MPI_Comm made;
  MPI_Comm_dup(old, &made);
  return made;
}

MPI_Comm dupWithInfo(MPI_Comm old) {
  MPI_Comm made;
  MPI_Comm_dup_with_info(old, MPI_INFO_NULL, &made);
  return made;
}

MPI_Comm idup(MPI_Comm old) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(old, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

MPI_Comm cart(MPI_Comm old) {
  int ranks = sizeOf(old), isPeriodic = 1;
  MPI_Comm made;
  MPI_Cart_create(old, 1, &ranks, &isPeriodic, 0, &made);
  return made;
}

MPI_Comm cartSub(MPI_Comm old) {
  int shape[2] = {sizeOf(old), 1}, periods[2] = {0, 0}, remains[2] = {1, 0};
  MPI_Comm grid, made;
  MPI_Cart_create(old, 2, shape, periods, 0, &grid);
  MPI_Cart_sub(grid, remains, &made);
  MPI_Comm_free(&grid);
  return made;
}

MPI_Comm graph(MPI_Comm old) {
  std::vector<int> index(sizeOf(old)), edges(sizeOf(old));
  std::iota(index.begin(), index.end(), 1);
  std::iota(edges.begin(), edges.end(), 0);
  MPI_Comm made;
  MPI_Graph_create(old, sizeOf(old), index.data(), edges.data(), 0, &made);
  return made;
}

MPI_Comm distGraph(MPI_Comm old) {
  int self = rankOf(old);
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(old, 1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

MPI_Comm merge(MPI_Comm old) {
  if (sizeOf(old) == 1)
    return dup(old);
  bool isLow = rankOf(old) == 0;
  MPI_Comm side, between, made;
  MPI_Comm_split(old, isLow, 0, &side);
  MPI_Intercomm_create(side, 0, old, isLow ? 1 : 0, kTag, &between);
  MPI_Intercomm_merge(between, isLow, &made);
  MPI_Comm_free(&between);
  MPI_Comm_free(&side);
  return made;
}

const std::vector<Way> kWays = {{"MPI_Comm_create", createEven},
                                {"MPI_Comm_create_group", createGroup},
                                {"... of all ranks", createWholeGroup},
                                {"MPI_Comm_split", split},
                                {"... that leaves one out", splitOff},
                                {"MPI_Comm_split_type", splitType},
                                {"MPI_Comm_dup", dup},
                                {"MPI_Comm_dup_with_info", dupWithInfo},
                                {"MPI_Comm_idup", idup},
                                {"MPI_Cart_create", cart},
                                {"MPI_Cart_sub", cartSub},
                                {"MPI_Graph_create", graph},
                                {"MPI_Dist_graph_create_adjacent", distGraph},
                                {"MPI_Intercomm_merge", merge}};

int numFirstCalls() { return static_cast<int>(FirstCalls::limit()); }

/// Whether all its ranks, and no others, take part. More calls than those that are passed on first.
void use(MPI_Comm comm) {
  for (int call = 0; call < numFirstCalls() / 3 + 3; ++call) {
    int one = 1, sum = -1, root = sizeOf(comm) - 1, word = rankOf(comm) == root ? call : -1;
    MPI_Barrier(comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(sum, sizeOf(comm));
    MPI_Request request;
    MPI_Ibcast(&word, 1, MPI_INT, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(word, call);
    std::vector<int> all(sizeOf(comm), -1);
    int mine = 10 * rankOf(comm);
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    for (int r = 0; r < sizeOf(comm); ++r)
      EXPECT_EQ(all[r], 10 * r);
  }
}

// The original is used between, so that its messages and theirs would meet.
TEST(Making, EachCommunicatorIsItsOwn) {
  for (const Way &first : kWays) {
    SCOPED_TRACE(first.name);
    use(MPI_COMM_WORLD);
    MPI_Comm made = first.make(MPI_COMM_WORLD);
    if (made == MPI_COMM_NULL) {
      use(MPI_COMM_WORLD);
      continue;
    }
    use(made);
    use(MPI_COMM_WORLD);
    use(made);
    MPI_Comm_free(&made);
  }
}

// Of communicators that were made, too; ranks that took no part in one agree on the next.
TEST(Making, CommunicatorsAreMadeOfThoseThatWereMade) {
  for (const Way &first : kWays)
    for (const Way &second :
         {Way{"MPI_Comm_create_group", createGroup}, Way{"MPI_Comm_split", split},
          Way{"MPI_Comm_dup", dup}, Way{"MPI_Cart_create", cart}}) {
      SCOPED_TRACE(std::string(first.name) + ", " + second.name);
      MPI_Comm made = first.make(MPI_COMM_WORLD);
      if (made == MPI_COMM_NULL)
        continue;
      MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
      MPI_Barrier(made);
      MPI_Comm again = second.make(made);
      if (again != MPI_COMM_NULL) {
        use(again);
        MPI_Comm_free(&again);
      }
      MPI_Comm_free(&made);
    }
  use(MPI_COMM_WORLD);
}

// More than contexts are kept for, at once.
TEST(Making, ManyLiveAtOnce) {
  std::vector<MPI_Comm> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(i % 3 == 0   ? split(MPI_COMM_WORLD)
                  : i % 3 == 1 ? dup(MPI_COMM_WORLD)
                               : idup(MPI_COMM_WORLD));
  for (MPI_Comm comm : all) {
    int one = 1, sum = 0;
    for (int i = 0; i < numFirstCalls() + 2; ++i)
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT_EQ(sum, sizeOf(comm));
  }
  for (MPI_Comm &comm : all)
    MPI_Comm_free(&comm);
}

// What an attribute says is not believed of a communicator of other ranks.
TEST(Making, APartIsNoDuplicateInSpiteOfItsAttributes) {
  if (sizeOf(MPI_COMM_WORLD) < 2)
    GTEST_SKIP() << "one rank has no part";
  MPI_Comm part = createGroup(MPI_COMM_WORLD);
  if (part == MPI_COMM_NULL)
    return;
  ServedComm *served = KnownComms::of(part);
  ASSERT_NE(served, nullptr);
  EXPECT_EQ(served->ranks().count(), sizeOf(part));
  EXPECT_EQ(served->ranks().self(), rankOf(part));
  MPI_Comm_free(&part);
}

// Some of the first calls are the MPI's: all ranks must agree on which, however each calls.
TEST(Making, FirstCallsAreCountedByAllRanksAlike) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int buffers[2] = {rankOf(comm), rankOf(comm)};
  for (int at : {0, rankOf(comm) == 0 ? 0 : 1}) {
    MPI_Request request;
    MPI_Ibcast(&buffers[at], 1, MPI_INT, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int round = 0; round < numFirstCalls() + 2; ++round)
    MPI_Barrier(comm);
  EXPECT_EQ(buffers[0], 0);
  MPI_Comm_free(&comm);
}

bool isServed(MPI_Comm comm) {
  CommRecord *record = KnownComms::recordOf(comm);
  return record && record->served();
}

/// The ranks of a grid over several nodes agree when it is made.
bool isWorldSpread() { return KnownComms::of(MPI_COMM_WORLD)->ranks().areSpread(); }

/// Blocking calls of the kinds that all MPIs serve right.
void callBriefly(MPI_Comm comm, int calls) {
  for (int call = 0; call < calls; ++call) {
    int ranks = sizeOf(comm), one = 1, sum = -1, word = rankOf(comm) == 0 ? call : -1;
    std::vector<int> all(ranks, -1), mine(ranks, rankOf(comm));
    switch (call % 5) {
    case 0:
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      EXPECT_EQ(sum, ranks);
      break;
    case 1:
      MPI_Bcast(&word, 1, MPI_INT, 0, comm);
      EXPECT_EQ(word, call);
      break;
    case 2:
      MPI_Barrier(comm);
      break;
    case 3:
      MPI_Allgather(mine.data(), 1, MPI_INT, all.data(), 1, MPI_INT, comm);
      EXPECT_EQ(all.back(), ranks - 1);
      break;
    case 4:
      MPI_Alltoall(mine.data(), 1, MPI_INT, all.data(), 1, MPI_INT, comm);
      EXPECT_EQ(all.back(), ranks - 1);
      break;
    }
  }
}

TEST(Making, NothingIsPreparedForFewCalls) {
  for (const Way &way :
       {Way{"MPI_Comm_create", createEven}, Way{"MPI_Comm_split", split}, Way{"MPI_Comm_dup", dup},
        Way{"MPI_Comm_dup_with_info", dupWithInfo}, Way{"MPI_Comm_idup", idup},
        Way{"MPI_Cart_create", cart}, Way{"MPI_Intercomm_merge", merge}}) {
    SCOPED_TRACE(way.name);
    bool isGrid = way.name == std::string_view("MPI_Cart_create");
    MPI_Comm made = way.make(MPI_COMM_WORLD);
    if (made == MPI_COMM_NULL)
      continue;
    if (!isGrid || !isWorldSpread()) {
      callBriefly(made, numFirstCalls());
      EXPECT_FALSE(isServed(made));
    }
    callBriefly(made, numFirstCalls() + 1);
    EXPECT_TRUE(isServed(made));
    MPI_Comm_free(&made);
  }
}

// A long call is worth the preparation after fewer of its kind, or at once; ranks describe the same
// bytes by different types.
TEST(Making, LongCallsCountAsManyShortOnes) {
  if (numFirstCalls() == 0)
    GTEST_SKIP() << "there are no first calls";
  MPI_Datatype chunk;
  MPI_Type_contiguous(1 << 10, MPI_INT, &chunk);
  MPI_Type_commit(&chunk);
  for (int kibibytes : {15, 64, 1 << 10}) {
    MPI_Comm made = dup(MPI_COMM_WORLD);
    std::vector<int> block(size_t{256} * static_cast<size_t>(kibibytes), rankOf(made));
    int calls = 0;
    for (; !isServed(made) && calls < 100; ++calls) {
      bool isInChunks = rankOf(made) % 2 != 0 && kibibytes % 4 == 0;
      MPI_Bcast(block.data(), isInChunks ? kibibytes / 4 : 256 * kibibytes,
                isInChunks ? chunk : MPI_INT, 0, made);
    }
    int weight = 1 + kibibytes / 16;
    EXPECT_EQ(calls, weight > numFirstCalls() ? 1 : numFirstCalls() / weight + 1)
        << kibibytes << " KiB";
    EXPECT_EQ(std::count(block.begin(), block.end(), 0), static_cast<long>(block.size()));
    MPI_Comm_free(&made);
  }
  MPI_Type_free(&chunk);
}

TEST(Making, OtherCallsAreServedFromTheFirstOn) {
  MPI_Comm comms[3] = {dup(MPI_COMM_WORLD), dup(MPI_COMM_WORLD), dup(MPI_COMM_WORLD)};
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
  EXPECT_EQ(sum, rankOf(comms[0]) + 1);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[1], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, sizeOf(comms[1]));
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_PROD, comms[2]);
  EXPECT_EQ(sum, 1);
  for (MPI_Comm &comm : comms) {
    EXPECT_TRUE(isServed(comm));
    MPI_Comm_free(&comm);
  }
}

// From the first call on, except for few allgathers, which send all neighbors the same.
TEST(Making, GridsAreServedAlongTheirTopology) {
  int ranks = sizeOf(MPI_COMM_WORLD), self = rankOf(MPI_COMM_WORLD);
  int before = (self + ranks - 1) % ranks, behind = (self + 1) % ranks;
  MPI_Comm few = cart(MPI_COMM_WORLD), other = cart(MPI_COMM_WORLD);
  for (int call = 0; call < 6; ++call) {
    int got[2] = {-1, -1};
    EXPECT_EQ(isServed(few), isWorldSpread() || call > std::min(4, numFirstCalls())) << call;
    MPI_Neighbor_allgather(&self, 1, MPI_INT, got, 1, MPI_INT, few);
    EXPECT_EQ(got[0], before);
    EXPECT_EQ(got[1], behind);
  }
  int sent[2] = {2 * self, 2 * self + 1}, got[2] = {-1, -1};
  MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, other);
  EXPECT_TRUE(isServed(few) && isServed(other));
  EXPECT_EQ(got[0], 2 * before + 1);
  EXPECT_EQ(got[1], 2 * behind);
  MPI_Comm_free(&few);
  MPI_Comm_free(&other);
}

// A communicator that lives for few calls has contexts for some that are made of it, without an
// agreement; for its parts, of which each rank may have one, too few.
TEST(Making, CommunicatorsOfBriefOnes) {
  MPI_Comm first = dup(MPI_COMM_WORLD), second = dup(first), part = split(second);
  auto contextOf = [](MPI_Comm comm) {
    Job::Context own = KnownComms::of(comm)->contexts().own();
    return std::pair(own.owner, own.number);
  };
  ASSERT_NE(KnownComms::of(second), nullptr);
  EXPECT_NE(contextOf(first), contextOf(second));
  EXPECT_NE(contextOf(first), contextOf(MPI_COMM_WORLD));
  EXPECT_EQ(KnownComms::of(part), nullptr);
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part, &request); // may not wait for an agreement
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, sizeOf(part));
  callBriefly(part, numFirstCalls());
  EXPECT_FALSE(isServed(part));
  use(part);
  EXPECT_TRUE(isServed(part));
  for (MPI_Comm *comm : {&part, &second, &first})
    MPI_Comm_free(comm);
}

// The ServedComm of a freed communicator is destroyed when the next communicator is made.
TEST(Making, FreedCommunicatorsLeaveNothing) {
  auto makeSome = [](int number) {
    for (int i = 0; i < number; ++i)
      for (auto make : {split, dup, idup, cart}) {
        MPI_Comm made = make(MPI_COMM_WORLD);
        callBriefly(made, i % 8 == 0 ? numFirstCalls() + 3 : 3);
        MPI_Comm_free(&made);
      }
  };
  makeSome(16);
  size_t before = mallinfo2().uordblks;
  makeSome(64);
  EXPECT_LT(mallinfo2().uordblks, before + (64 << 10));
}

} // namespace
} // namespace colldsl::mpi::test
