/* An MPI program of its own: sums of the ranks' numbers, many times, with a check. */
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 200, COUNT = 256 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int x[COUNT], y[COUNT];
  for (int call = 0; call < CALLS; ++call) {
    for (int i = 0; i < COUNT; ++i)
      x[i] = rank + call + i;
    MPI_Allreduce(x, y, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i)
      wrong += y[i] != ranks * (ranks - 1) / 2 + ranks * (call + i);
  }
  if (rank == 0)
    printf("%d sums on %d ranks, %d wrong\n", CALLS * COUNT, ranks, wrong);
  MPI_Finalize();
  return wrong != 0;
}
