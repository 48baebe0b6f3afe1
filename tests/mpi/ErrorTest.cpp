// Calls that fail, and what is left of the communicator afterwards. The last case kills a rank as
// far as the others can tell: nothing can follow it.
#include "mpi/Job.h"
#include "mpi/Real.h"
#include "mpi/comm/ServedComm.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
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

int classOf(int code) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  return found;
}

/// A ring whose errors are returned.
struct Ring : World {
  MPI_Comm comm = MPI_COMM_NULL;
  Ring() {
    int isPeriodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &isPeriodic, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~Ring() { MPI_Comm_free(&comm); }
  bool isNextTo(int other) const {
    return (rank + 1) % ranks == other || (other + 1) % ranks == rank;
  }
};

/// How a call is made and waited for; what it returns.
enum class Form { Blocking, Waited, Tested, WaitedInArray, TestedInArray };
constexpr Form kForms[] = {Form::Blocking, Form::Waited, Form::Tested, Form::WaitedInArray,
                           Form::TestedInArray};

/// `code`: of the call that made the request.
int complete(Form form, int code, MPI_Request &request) {
  if (code != MPI_SUCCESS)
    return code;
  if (form == Form::Waited)
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == Form::WaitedInArray)
    return MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  for (int isDone = 0; !isDone && code == MPI_SUCCESS;)
    code = form == Form::Tested ? MPI_Test(&request, &isDone, MPI_STATUS_IGNORE)
                                : MPI_Testall(1, &request, &isDone, MPI_STATUSES_IGNORE);
  return code;
}

/// All blocks of a rank, and memory for what it gets.
struct Blocks {
  std::vector<int> sent, got;
  Blocks(int ranks, int count)
      : sent(static_cast<size_t>(ranks * count), 7), got(sent.size() + 2, -1) {}
};

/// `received` elements of each block of `count` are expected here.
using Call = int (*)(Form form, Blocks &blocks, int count, int received, MPI_Comm comm);

int alltoall(Form form, Blocks &b, int count, int received, MPI_Comm comm) {
  if (form == Form::Blocking)
    return MPI_Alltoall(b.sent.data(), count, MPI_INT, b.got.data(), received, MPI_INT, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int code =
      MPI_Ialltoall(b.sent.data(), count, MPI_INT, b.got.data(), received, MPI_INT, comm, &request);
  code = complete(form, code, request);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  return code;
}

// Only ends of an edge know the length of its block.
int alltoallv(Form form, Blocks &b, int count, int received, MPI_Comm comm) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> counts(static_cast<size_t>(ranks), count), fewer(counts.size(), received), at;
  for (int r = 0; r < ranks; ++r)
    at.push_back(r * count);
  if (form == Form::Blocking)
    return MPI_Alltoallv(b.sent.data(), counts.data(), at.data(), MPI_INT, b.got.data(),
                         fewer.data(), at.data(), MPI_INT, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Ialltoallv(b.sent.data(), counts.data(), at.data(), MPI_INT, b.got.data(),
                            fewer.data(), at.data(), MPI_INT, comm, &request);
  code = complete(form, code, request);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  return code;
}

int bcast(Form form, Blocks &b, int count, int received, MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  int here = rank == 0 ? count : received;
  if (form == Form::Blocking)
    return MPI_Bcast(b.got.data(), here, MPI_INT, 0, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Ibcast(b.got.data(), here, MPI_INT, 0, comm, &request);
  code = complete(form, code, request);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  return code;
}

int neighborAlltoall(Form form, Blocks &b, int count, int received, MPI_Comm comm) {
  if (form == Form::Blocking)
    return MPI_Neighbor_alltoall(b.sent.data(), count, MPI_INT, b.got.data(), received, MPI_INT,
                                 comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Ineighbor_alltoall(b.sent.data(), count, MPI_INT, b.got.data(), received, MPI_INT,
                                    comm, &request);
  code = complete(form, code, request);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  return code;
}

struct Row {
  const char *name;
  Call call;
  bool isOnlyMine; ///< only the rank whose count is wrong notices
};
constexpr Row kRows[] = {{"alltoallv", alltoallv, false},
                         {"bcast", bcast, false},
                         {"neighbor alltoall", neighborAlltoall, true}};

// Rank 1 expects less than it is sent: in lines, through the ring of bytes, on request. Then the
// call is right on all ranks, and then wrong again, with the same arguments as before.
TEST(Errors, ACommunicatorServesAgainAfterATruncation) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  for (const Row &row : kRows)
    for (int count : {2, 1000, 100000})
      for (Form form : kForms)
        for (int round = 0; round < 3; ++round) {
          SCOPED_TRACE(testing::Message() << row.name << ", " << count << " ints, form "
                                          << static_cast<int>(form) << ", round " << round);
          Blocks blocks(std::max(ring.ranks, 2), count);
          bool isWrong = ring.rank == 1 && round != 1;
          int code = row.call(form, blocks, count, isWrong ? count - 1 : count, ring.comm);
          if (round == 1) {
            EXPECT_EQ(code, MPI_SUCCESS);
            EXPECT_EQ(blocks.got[0], row.call == bcast ? -1 : 7);
          } else if (ring.rank == 1) {
            EXPECT_EQ(classOf(code), MPI_ERR_TRUNCATE);
          } else {
            EXPECT_TRUE(code == MPI_SUCCESS ||
                        (!row.isOnlyMine && classOf(code) == MPI_ERR_TRUNCATE));
          }
          MPI_Barrier(ring.comm);
        }
}

// As often as one likes.
TEST(Errors, ThousandsOfFailedRunsLeaveNothingBehind) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  Blocks blocks(ring.ranks, 4);
  for (int round = 0; round < 3000; ++round) {
    int code = bcast(Form::Blocking, blocks, 4, ring.rank == 1 ? 3 : 4, ring.comm);
    ASSERT_TRUE(classOf(code) == MPI_ERR_TRUNCATE || (ring.rank != 1 && code == MPI_SUCCESS))
        << round;
  }
  EXPECT_EQ(bcast(Form::Blocking, blocks, 4, 4, ring.comm), MPI_SUCCESS);
  EXPECT_EQ(alltoall(Form::Blocking, blocks, 4, 4, ring.comm), MPI_SUCCESS);
  EXPECT_EQ(neighborAlltoall(Form::Blocking, blocks, 4, 4, ring.comm), MPI_SUCCESS);
}

// From rank 0 to rank 1; all other edges have their bytes. A rank that waits for a message that
// never comes, or for a receive of a message without one, gets the error once the other rank has
// ended its call.
TEST(Errors, AnEndWithoutBytesDelaysNoOtherRank) {
  Ring ring;
  if (ring.ranks < 3)
    GTEST_SKIP() << "there would be two edges from rank 0 to rank 1";
  constexpr int kMany = 100000;
  Blocks blocks(2, kMany);
  auto exchange = [&](int count, int sent, int received) {
    int out[2] = {count, ring.rank == 0 ? sent : count};
    int in[2] = {ring.rank == 1 ? received : count, count};
    int at[2] = {0, kMany};
    return classOf(MPI_Neighbor_alltoallv(blocks.sent.data(), out, at, MPI_INT, blocks.got.data(),
                                          in, at, MPI_INT, ring.comm));
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(exchange(4, 0, 4), ring.rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(exchange(4, kMany, 0), ring.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(exchange(4, 4, 4), MPI_SUCCESS);
  }
  for (int round = 0; round < 1000; ++round) // without an error, and delaying no other rank
    ASSERT_EQ(exchange(4, 1, 0), MPI_SUCCESS);
  EXPECT_EQ(exchange(4, 4, 4), MPI_SUCCESS);
}

// A rank that has bytes for a rank that has none, or waits for some, gets an error; others may.
TEST(Errors, ARankWithoutBytesDelaysNoRankInACollective) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  for (int count : {4, 100000})
    for (Form form : kForms) {
      SCOPED_TRACE(testing::Message() << count << " ints, form " << static_cast<int>(form));
      Blocks blocks(ring.ranks, count);
      int code = bcast(form, blocks, 0, count, ring.comm);
      EXPECT_EQ(classOf(code), ring.rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
      EXPECT_EQ(bcast(form, blocks, count, count, ring.comm), MPI_SUCCESS);
      code = bcast(form, blocks, count, ring.rank == 1 ? 0 : count, ring.comm);
      EXPECT_TRUE(code == MPI_SUCCESS || (classOf(code) == MPI_ERR_TRUNCATE && ring.rank != 1));
      int isRefused = code != MPI_SUCCESS, someRefused = 0; // which rank sends to rank 1: its tree
      MPI_Allreduce(&isRefused, &someRefused, 1, MPI_INT, MPI_MAX, ring.comm);
      if (count > 4) {
        EXPECT_EQ(someRefused, 1);
      }
      EXPECT_EQ(alltoallv(form, blocks, count, count, ring.comm), MPI_SUCCESS);
    }
}

// Rank 1 has another list of lengths than the others. A call ends on all ranks, with an error or
// without one, and leaves nothing behind.
TEST(Errors, RanksThatDisagreeAboutAListEnd) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  auto scatter = [&](int of, int other, size_t at) {
    std::vector<int> counts(static_cast<size_t>(ring.ranks), of);
    counts[at] = ring.rank == 1 ? other : of;
    std::vector<int> sent(static_cast<size_t>((ring.ranks - 1) * of + std::max(of, other)), 1);
    std::vector<int> got(static_cast<size_t>(std::max(of, other)) + 1);
    return MPI_Reduce_scatter(sent.data(), got.data(), counts.data(), MPI_INT, MPI_SUM, ring.comm);
  };
  for (int of : {4, 42, 1000, 100'000})
    for (int other : {0, of - 1, of + 1, 2 * of})
      for (size_t at = 0; at < 2; ++at) {
        SCOPED_TRACE(testing::Message() << of << ", " << other << " of block " << at);
        int code = scatter(of, other, at), failed = code != MPI_SUCCESS, anyFailed = 0;
        MPI_Allreduce(&failed, &anyFailed, 1, MPI_INT, MPI_MAX, ring.comm);
        if (other != 0) {
          EXPECT_EQ(anyFailed, 1);
        }
        EXPECT_EQ(scatter(of, of, at), MPI_SUCCESS);
      }
}

// Late is not over. Longer than it takes to ask, which is a tenth of a second.
TEST(Errors, ALateRankIsWaitedFor) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank waits for no other";
  Blocks blocks(std::max(ring.ranks, 2), 100000);
  for (int count : {4, 100000}) {
    for (int late = 0; late < 2; ++late) {
      if (ring.rank == late)
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
      EXPECT_EQ(neighborAlltoall(Form::Blocking, blocks, count, count, ring.comm), MPI_SUCCESS);
      if (ring.rank == late)
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
      EXPECT_EQ(bcast(Form::Tested, blocks, count, count, ring.comm), MPI_SUCCESS);
    }
  }
}

// Rank 2 waits for what rank 0 never sends. Rank 0 waits in another call, for rank 1, which waits
// for rank 2's error: so rank 0 answers while it waits for its own node.
TEST(Errors, ARankThatWaitsForItsNodeAnswersOthers) {
  World world;
  if (world.ranks != 3)
    GTEST_SKIP() << "three ranks wait for each other in a circle";
  MPI_Comm ends, node;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank == 1 ? MPI_UNDEFINED : 0, 0, &ends);
  MPI_Comm_split(MPI_COMM_WORLD, world.rank == 2 ? MPI_UNDEFINED : 0, 0, &node);
  int sent[2] = {}, got[2] = {}, at[2] = {0, 1}, nothing[2] = {};
  int wanted[2] = {world.rank == 2, 0}; // of rank 0, to `ends`
  if (world.rank != 1) {
    MPI_Comm_set_errhandler(ends, MPI_ERRORS_RETURN);
    int code = MPI_Alltoallv(sent, nothing, at, MPI_INT, got, wanted, at, MPI_INT, ends);
    EXPECT_EQ(classOf(code), world.rank == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    MPI_Comm_free(&ends);
  }
  if (world.rank == 2)
    MPI_Send(sent, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (world.rank == 1)
    MPI_Recv(got, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (world.rank != 2) {
    MPI_Barrier(node);
    MPI_Comm_free(&node);
  }
}

int handled = MPI_SUCCESS; ///< what noteError() was called with

void noteError(MPI_Comm *, int *code, ...) { handled = *code; }

int misled = 0; ///< errors of one communicator that came to another one's handler

void countMisled(MPI_Comm *, int *, ...) { ++misled; }

// The operation goes on after its communicator was freed, and other communicators may get its
// handle. Its error handler is called nevertheless.
TEST(Errors, OfFreedCommunicatorsGoToTheirHandlers) {
  World world;
  if (world.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  MPI_Errhandler notes, wrong;
  MPI_Comm_create_errhandler(noteError, &notes);
  MPI_Comm_create_errhandler(countMisled, &wrong);
  for (MPI_Errhandler handler : {MPI_Errhandler(MPI_ERRORS_RETURN), notes})
    for (int round = 0; round < 3; ++round) {
      MPI_Comm comm, others[16];
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Comm_set_errhandler(comm, handler);
      Blocks blocks(world.ranks, 4);
      MPI_Request request;
      handled = MPI_SUCCESS;
      MPI_Ibcast(blocks.got.data(), world.rank == 1 ? 3 : 4, MPI_INT, 0, comm, &request);
      MPI_Comm_free(&comm);
      for (MPI_Comm &other : others) {
        MPI_Comm_dup(MPI_COMM_SELF, &other);
        MPI_Comm_set_errhandler(other, wrong);
      }
      int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_TRUE(classOf(code) == MPI_ERR_TRUNCATE || (world.rank != 1 && code == MPI_SUCCESS));
      EXPECT_EQ(classOf(handled), handler == notes ? classOf(code) : MPI_SUCCESS);
      EXPECT_EQ(misled, 0);
      for (MPI_Comm &other : others)
        MPI_Comm_free(&other);
    }
  MPI_Errhandler_free(&notes);
  MPI_Errhandler_free(&wrong);
}

/// Waits for all ranks in a call that is passed on.
void waitBelow(const Ring &ring) {
  MPI_Comm copy;
  MPI_Comm_dup(ring.comm, &copy);
  MPI_Comm_free(&copy);
}

// A failure is one of one run.
TEST(Errors, OtherCallsUnderWayGoOn) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  Blocks wrong(ring.ranks, 4), right(ring.ranks, 4);
  MPI_Request requests[3];
  int sum[3] = {};
  MPI_Iallreduce(&ring.rank, &sum[0], 1, MPI_INT, MPI_SUM, ring.comm, &requests[0]);
  MPI_Ibcast(wrong.got.data(), ring.rank == 1 ? 3 : 4, MPI_INT, 0, ring.comm, &requests[1]);
  MPI_Iallreduce(&ring.rank, &sum[2], 1, MPI_INT, MPI_SUM, ring.comm, &requests[2]);
  int code = MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  EXPECT_TRUE(classOf(code) == MPI_ERR_TRUNCATE || (ring.rank != 1 && code == MPI_SUCCESS));
  EXPECT_EQ(MPI_Wait(&requests[2], MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(sum[0], ring.ranks * (ring.ranks - 1) / 2);
  EXPECT_EQ(sum[2], sum[0]);
}

MPI_Request makePersistent(Blocks &b, int count, int received, MPI_Comm comm) {
  MPI_Request request;
  COLLDSL_MPI_PERSISTENT(Neighbor_alltoall_init)
  (b.sent.data(), count, MPI_INT, b.got.data(), received, MPI_INT, comm, MPI_INFO_NULL, &request);
  return request;
}

// What is wrong stays so: each run says it anew.
TEST(Errors, APersistentCallFailsRunByRun) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  Blocks blocks(2, 1000);
  MPI_Request request = makePersistent(blocks, 1000, ring.rank == 1 ? 999 : 1000, ring.comm);
  for (int run = 0; run < 3; ++run) {
    MPI_Start(&request);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(classOf(code), ring.rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_NE(request, MPI_REQUEST_NULL);
  }
  MPI_Request_free(&request);
}

// A rank whose call is refused takes part in no run of it: each run of the others ends, and fails
// where it needs that rank, which answers ranks of other nodes while it waits in any call.
TEST(Errors, ARefusedPersistentCallIsNotAwaited) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  Blocks blocks(std::max(ring.ranks, 2), 4);
  using Init = std::function<int(int count, MPI_Request *request)>;
  for (const Init &init : std::initializer_list<Init>{
           [&](int count, MPI_Request *request) {
             return COLLDSL_MPI_PERSISTENT(Alltoall_init)(blocks.sent.data(), count, MPI_INT,
                                                          blocks.got.data(), count, MPI_INT,
                                                          ring.comm, MPI_INFO_NULL, request);
           },
           [&](int count, MPI_Request *request) {
             return COLLDSL_MPI_PERSISTENT(Allreduce_init)(blocks.sent.data(), blocks.got.data(),
                                                           count, MPI_INT, MPI_SUM, ring.comm,
                                                           MPI_INFO_NULL, request);
           },
           [&](int count, MPI_Request *request) {
             return COLLDSL_MPI_PERSISTENT(Neighbor_alltoall_init)(
                 blocks.sent.data(), count, MPI_INT, blocks.got.data(), count, MPI_INT, ring.comm,
                 MPI_INFO_NULL, request);
           }}) {
    MPI_Request request;
    int code = init(ring.rank == 1 ? -1 : 4, &request);
    EXPECT_EQ(classOf(code), ring.rank == 1 ? MPI_ERR_COUNT : MPI_SUCCESS);
    for (int run = 0; run < 3 && ring.rank != 1; ++run) {
      EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
      int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_TRUE(code != MPI_SUCCESS || !ring.isNextTo(1)) << run;
    }
    if (ring.rank != 1)
      MPI_Request_free(&request);
    waitBelow(ring);
  }
}

// Rank 1 answers in any call also for a blocking or nonblocking call that was refused, and for a
// run that failed as it had too little room.
TEST(Errors, AFailedCallIsAnsweredInAnyCall) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a single rank cannot differ from another";
  for (int count : {4, 100'000})
    for (int there : {-1, count - 1})
      for (Call call : {neighborAlltoall, alltoall, bcast})
        for (Form form : {Form::Blocking, Form::Waited}) {
          Blocks blocks(std::max(ring.ranks, 2), count);
          int code = call(form, blocks, count, ring.rank == 1 ? there : count, ring.comm);
          if (ring.rank == 1) {
            EXPECT_NE(code, MPI_SUCCESS) << count << ", " << there;
          }
          waitBelow(ring);
        }
}

/// Fails in time.
void expectDeath(const char *what, int code, std::chrono::steady_clock::time_point begin) {
  EXPECT_EQ(classOf(code), MPI_ERR_OTHER) << what;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << what;
}

// The last rank sends nothing any more. A rank that waits for it gets the error, each time.
TEST(Errors, ZACallWithADeadRankFailsEachTime) {
  Ring ring;
  if (ring.ranks == 1)
    GTEST_SKIP() << "a rank alone outlives itself";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Blocks blocks(std::max(ring.ranks, 2), 4);
  EXPECT_EQ(neighborAlltoall(Form::Blocking, blocks, 4, 4, ring.comm), MPI_SUCCESS);
  EXPECT_EQ(alltoall(Form::Blocking, blocks, 4, 4, ring.comm), MPI_SUCCESS);
  real::Barrier(MPI_COMM_WORLD); // no rank is in the middle of a call
  int last = ring.ranks - 1;
  if (ring.rank == last || Job::current()->remote())
    return; // what other nodes are told is tried with hosts
  Job::current()->worker().world().reportDeath(
      Job::current()->onNode(Rank{static_cast<uint32_t>(last)}));
  for (int round = 0; round < 3; ++round)
    for (Form form : kForms) {
      auto begin = std::chrono::steady_clock::now();
      expectDeath("alltoall", alltoall(form, blocks, 4, 4, ring.comm), begin);
      begin = std::chrono::steady_clock::now();
      int behind = (ring.rank + 1) % ring.ranks, before = (ring.rank + last) % ring.ranks;
      int code = neighborAlltoall(form, blocks, 4, 4, ring.comm);
      if (behind == last || before == last)
        expectDeath("neighbor alltoall", code, begin);
    }
  MPI_Request request = makePersistent(blocks, 4, 4, ring.comm);
  for (int run = 0; run < 3; ++run) {
    auto begin = std::chrono::steady_clock::now();
    MPI_Start(&request);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (ring.rank == 0 || ring.rank == last - 1)
      expectDeath("persistent", code, begin);
    EXPECT_NE(request, MPI_REQUEST_NULL);
  }
  MPI_Request_free(&request);
}

} // namespace
} // namespace colldsl::mpi::test
