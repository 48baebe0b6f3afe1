// Calls of two ranks whose instructions callgrind counts on rank 1. That rank enters each call some
// milliseconds after rank 0, so that it finds what it needs and never waits: the count is that of
// the path itself, and the same from run to run.
//
// Each call has a dump of callgrind's, named `row NAME BYTES`. Some calls look further than others,
// and some are disturbed by what else runs on the machine: the least is what counts.
//
// Rows `STATE-CALL` count kPassed calls about requests of the MPI's: while nothing of ours
// is there, while a persistent request of ours is, while a barrier of ours is under way.
#include "mpi/Mpi.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <valgrind/callgrind.h>

namespace {

constexpr int kWarmUps = 40, kFewWarmUps = 4, kCalls = 101, kFewCalls = 12, kLargest = 512,
              kPassed = 64, kMessages = 4;
constexpr auto kLate = std::chrono::milliseconds(2);

class Rows {
public:
  explicit Rows(const char *wanted) : wanted_(wanted) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    int other = 1 - rank_;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
  }
  Rows(const Rows &) = delete;
  ~Rows() { MPI_Comm_free(&graph_); }

  void all() {
    for (int bytes : {8, 64, 512}) {
      neighbors("alltoall", bytes, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall,
                COLLDSL_MPI_PERSISTENT(Neighbor_alltoall_init));
      neighbors("allgather", bytes, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
                COLLDSL_MPI_PERSISTENT(Neighbor_allgather_init));
      for (int root : {0, 1})
        row(root == 0 ? "bcast-received" : "bcast-sent", bytes,
            [&] { MPI_Bcast(sent_, bytes, MPI_BYTE, root, MPI_COMM_WORLD); });
      row("allreduce", bytes,
          [&] { MPI_Allreduce(sent_, got_, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
    }
    row("barrier", 0, [] { MPI_Barrier(MPI_COMM_WORLD); });
  }

  void passedOn() {
    warmUps_ = kFewWarmUps; // each has many calls
    calls_ = kFewCalls;
    for (MPI_Request &pending : pending_)
      MPI_Irecv(nullptr, 0, MPI_BYTE, 1 - rank_, 1, MPI_COMM_WORLD, &pending);
    passedOn(
        "none", [] {}, [] {});
    int byte = 0;
    MPI_Request ours = MPI_REQUEST_NULL;
    COLLDSL_MPI_PERSISTENT(Bcast_init)(&byte, 1, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &ours);
    passedOn(
        "kept", [] {}, [] {});
    MPI_Request_free(&ours);
    auto wait = [&] { MPI_Wait(&ours, MPI_STATUS_IGNORE); };
    passedOn(
        "running", [&] { beginBarrier(ours); }, wait);
    for (MPI_Request &pending : pending_) {
      MPI_Cancel(&pending);
      MPI_Wait(&pending, MPI_STATUS_IGNORE);
    }
  }

private:
  // The other rank comes when the calls are over.
  void beginBarrier(MPI_Request &request) {
    if (rank_ == 0)
      std::this_thread::sleep_for(4 * kLate);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  }

  template <typename Before, typename Behind>
  void passedOn(const std::string &state, Before before, Behind behind) {
    int isDone = 0, index = 0, indices[kMessages];
    auto passed = [&](const char *name, auto call) {
      auto calls = [&] {
        for (int i = 0; i < kPassed; ++i)
          call();
      };
      row(state + '-' + name, 0, calls, before, behind);
    };
    MPI_Request none = MPI_REQUEST_NULL, start = MPI_REQUEST_NULL;
    MPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &start);
    passed("test", [&] { MPI_Test(&pending_[0], &isDone, MPI_STATUS_IGNORE); });
    passed("testall", [&] { MPI_Testall(kMessages, pending_, &isDone, MPI_STATUSES_IGNORE); });
    passed("testany",
           [&] { MPI_Testany(kMessages, pending_, &index, &isDone, MPI_STATUS_IGNORE); });
    passed("testsome",
           [&] { MPI_Testsome(kMessages, pending_, &index, indices, MPI_STATUSES_IGNORE); });
    passed("get_status", [&] { MPI_Request_get_status(pending_[0], &isDone, MPI_STATUS_IGNORE); });
    passed("iprobe", [&] { MPI_Iprobe(1 - rank_, 2, MPI_COMM_WORLD, &isDone, MPI_STATUS_IGNORE); });
    passed("wait", [&] { MPI_Wait(&none, MPI_STATUS_IGNORE); });
    passed("waitall", [&] { MPI_Waitall(1, &none, MPI_STATUSES_IGNORE); });
    passed("start", [&] {
      MPI_Start(&start);
      MPI_Wait(&start, MPI_STATUS_IGNORE);
    });
    passed("send", [&] { MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD); });
    MPI_Request_free(&start);
  }

  template <typename Call, typename ICall, typename Init>
  void neighbors(const std::string &name, int bytes, Call call, ICall icall, Init init) {
    MPI_Request request;
    row("neighbor_" + name, bytes,
        [&] { call(sent_, bytes, MPI_BYTE, got_, bytes, MPI_BYTE, graph_); });
    row("ineighbor_" + name, bytes, [&] {
      icall(sent_, bytes, MPI_BYTE, got_, bytes, MPI_BYTE, graph_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    init(sent_, bytes, MPI_BYTE, got_, bytes, MPI_BYTE, graph_, MPI_INFO_NULL, &request);
    row("neighbor_" + name + "_init", bytes, [&] {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    MPI_Request_free(&request);
  }

  template <typename Call> void row(const std::string &name, int bytes, Call call) {
    row(
        name, bytes, call, [] {}, [] {});
  }

  /// `before` and `behind` surround each call, and are not counted.
  template <typename Call, typename Before, typename Behind>
  void row(const std::string &name, int bytes, Call call, Before before, Behind behind) {
    std::string title = "row " + name + ' ' + std::to_string(bytes);
    if (name.find(wanted_) == std::string::npos)
      return;
    for (int i = -warmUps_; i < calls_; ++i) {
      bool isCounted = i >= 0;
      if (isCounted)
        CALLGRIND_ZERO_STATS;
      before();
      step(call, isCounted);
      behind();
      MPI_Barrier(MPI_COMM_WORLD);
      if (isCounted)
        CALLGRIND_DUMP_STATS_AT(title.c_str());
    }
  }

  template <typename Call> void step(Call call, bool isCounted) {
    if (rank_ == 1)
      std::this_thread::sleep_for(kLate);
    if (isCounted)
      CALLGRIND_TOGGLE_COLLECT;
    call();
    if (isCounted)
      CALLGRIND_TOGGLE_COLLECT;
  }

  int warmUps_ = kWarmUps, calls_ = kCalls;
  const char *wanted_; ///< in the names of rows
  int rank_ = 0;
  MPI_Comm graph_ = MPI_COMM_NULL;
  MPI_Request pending_[kMessages]; ///< receives that never match
  double sent_[kLargest / sizeof(double)] = {}, got_[kLargest / sizeof(double)] = {};
};

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2 && argc > 1)
    Rows(argv[1]).passedOn();
  else if (ranks == 2)
    Rows("").all();
  else
    std::fprintf(stderr, "instructions: 2 ranks are needed, and there are %d\n", ranks);
  MPI_Finalize();
  return ranks == 2 ? 0 : 2;
}
