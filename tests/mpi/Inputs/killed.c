// One rank ends in the middle of many sums, without a word.
#include <mpi.h>
#include <signal.h>

int main(int argc, char **argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 1000; ++i) {
    long mine = i, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1 && i == 40)
      raise(SIGKILL);
  }
  MPI_Finalize();
  return 0;
}
