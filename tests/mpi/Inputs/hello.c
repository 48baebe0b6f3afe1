// Says how many ranks there are, and ends with the code that it is given.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0)
    printf("%d ranks, loaded before: %s\n", size, getenv("LD_PRELOAD"));
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
