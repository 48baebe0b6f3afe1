/* An MPI program that knows nothing of colldsl: neighbours and all ranks exchange numbers, round by
 * round, for so many seconds or until a call fails; a rank that has failed waits for its end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kMax = 20000 };

static int rank, ranks;

static void fail(const char *call, int code, double begin) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  printf("rank %d failed after %.1f s in %s: %s\n", rank, MPI_Wtime() - begin, call,
         class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another class");
  fflush(stdout);
  for (;;)
    pause();
}

static void expect(int is_right, const char *call) {
  if (is_right)
    return;
  printf("rank %d: %s delivered wrong data\n", rank, call);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void round_of(MPI_Comm ring, int round, int count, double begin) {
  static int in[2 * kMax], out[2 * kMax];
  int below = (rank + ranks - 1) % ranks, above = (rank + 1) % ranks, code;
  for (int i = 0; i < 2 * count; ++i)
    in[i] = rank + round + i;
  code = MPI_Neighbor_alltoall(in, count, MPI_INT, out, count, MPI_INT, ring);
  if (code != MPI_SUCCESS)
    fail("MPI_Neighbor_alltoall", code, begin);
  expect(out[0] == below + round + count && out[count] == above + round, "MPI_Neighbor_alltoall");
  code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (code != MPI_SUCCESS)
    fail("MPI_Allreduce", code, begin);
  expect(out[0] == ranks * (ranks - 1) / 2 + ranks * round, "MPI_Allreduce");
}

int main(int argc, char **argv) {
  const int sizes[] = {1, 100, 3000, kMax};
  int periodic = 1;
  double begin, seconds = argc > 1 ? atof(argv[1]) : 1;
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  printf("rank %d of %d is process %d\n", rank, ranks, (int)getpid());
  fflush(stdout);
  begin = MPI_Wtime();
  for (int round = 0, goes_on = 1; goes_on; ++round) {
    round_of(ring, round, sizes[round % 4], begin);
    goes_on = MPI_Wtime() - begin < seconds;
    if (MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
      fail("MPI_Bcast", MPI_ERR_OTHER, begin);
  }
  if (rank == 0)
    printf("all rounds were right\n");
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
