// Calls of two ranks whose instructions callgrind counts on rank 1. That rank enters each call some
// milliseconds after rank 0, so that it finds what it needs and never waits: the count is that of
// the path itself, and the same from run to run.
//
// Each call has a dump of callgrind's, named `row NAME BYTES`. Some calls look further than others,
// and some are disturbed by what else runs on the machine: the least is what counts.
#include "mpi/Mpi.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <valgrind/callgrind.h>

namespace {

constexpr int kWarmUps = 40, kCalls = 101, kLargest = 512;
constexpr auto kLate = std::chrono::milliseconds(2);

class Rows {
public:
  Rows() {
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

private:
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
    std::string title = "row " + name + ' ' + std::to_string(bytes);
    for (int i = 0; i < kWarmUps; ++i)
      step(call, false);
    for (int i = 0; i < kCalls; ++i) {
      CALLGRIND_ZERO_STATS;
      step(call, true);
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
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int rank_ = 0;
  MPI_Comm graph_ = MPI_COMM_NULL;
  double sent_[kLargest / sizeof(double)] = {}, got_[kLargest / sizeof(double)] = {};
};

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2)
    Rows().all();
  else
    std::fprintf(stderr, "instructions: 2 ranks are needed, and there are %d\n", ranks);
  MPI_Finalize();
  return ranks == 2 ? 0 : 2;
}
