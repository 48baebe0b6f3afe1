/* Power iteration: the largest eigenvalue of a matrix whose rows are spread over the ranks.
 * Each step gathers the vector and computes its norm: an allgather and an allreduce. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 64, STEPS = 100 }; /* rows of each rank */

/* The matrix of a second difference: 2 on the diagonal, -1 beside it. */
static double product(const double *x, int row, int size) {
  return 2 * x[row] - (row > 0 ? x[row - 1] : 0) - (row + 1 < size ? x[row + 1] : 0);
}

int main(int argc, char **argv) {
  static double x[ROWS * 1024];
  double own[ROWS], sum, all = 0;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1024)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < ROWS; ++i)
    own[i] = (rank + i) % 2 ? -1 : 1;
  for (int step = 0; step < STEPS; ++step) {
    MPI_Allgather(own, ROWS, MPI_DOUBLE, x, ROWS, MPI_DOUBLE, MPI_COMM_WORLD);
    sum = 0;
    for (int i = 0; i < ROWS; ++i) {
      own[i] = product(x, rank * ROWS + i, ranks * ROWS);
      sum += own[i] * own[i];
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < ROWS; ++i)
      own[i] /= sqrt(all);
  }
  if (rank == 0)
    printf("%d rows on %d ranks: the largest eigenvalue is %.4f\n", ROWS * ranks, ranks, sqrt(all));
  MPI_Finalize();
  return 0;
}
