// Graph communicators that live for one exchange: the cost of making one, and the growth of memory.
// Run it on the bare MPI and with colldsl loaded; times are processor time of rank 0.
//
//   mpirun -n 2 churn-openmpi [COMMUNICATORS [EXCHANGES_EACH]]
#include "tests/mpi/Usage.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mpi.h>

namespace {

double processorUs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

/// A ring; its calls are those of every rank.
void live(int rank, int ranks, int exchanges) {
  int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
  int sources[2] = {before, behind}, targets[2] = {behind, before}, got[2];
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  for (int i = 0; i < exchanges; ++i)
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, graph);
  MPI_Comm_free(&graph);
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int number = argc > 1 ? std::atoi(argv[1]) : 100000;
  int exchanges = argc > 2 ? std::atoi(argv[2]) : 1;
  int begun = number / 10;
  double start = 0;
  long resident = 0;
  for (int i = 0; i < number; ++i) {
    if (i == begun) {
      start = processorUs();
      resident = conformance::Usage::now().residentKiB;
    }
    live(rank, ranks, exchanges);
  }
  if (rank == 0)
    std::printf("%d communicators of %d ranks, %d exchanges each: %.2f us each, %+ld KiB\n", number,
                ranks, exchanges, (processorUs() - start) / (number - begun),
                conformance::Usage::now().residentKiB - resident);
  MPI_Finalize();
}
