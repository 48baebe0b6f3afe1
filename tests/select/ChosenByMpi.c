/* Calls functions of MPI, each once: under the library for the MPI, COLLDSL_VERBOSE=1 tells what it
 * chooses.
 *
 * usage: chosen-by-mpi-MPI [FUNCTION BYTES TYPE OP FORM]... */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kWords = 5 };

static MPI_Datatype typeOf(const char *name) {
  if (strcmp(name, "i32") == 0)
    return MPI_INT32_T;
  if (strcmp(name, "f32") == 0)
    return MPI_FLOAT;
  return strcmp(name, "f64") == 0 ? MPI_DOUBLE : MPI_UINT8_T;
}

static void takeFirst(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  memcpy(inout, in, (size_t)*length * 4);
}

/* "matmul" stands for an operator that does not commute. */
static MPI_Op opOf(const char *name) {
  if (strcmp(name, "max") == 0)
    return MPI_MAX;
  if (strcmp(name, "min") == 0)
    return MPI_MIN;
  MPI_Op op = MPI_SUM;
  if (strcmp(name, "matmul") == 0)
    MPI_Op_create(takeFirst, 0, &op);
  return op;
}

static void call(char **row) {
  MPI_Comm comm = MPI_COMM_WORLD;
  const char *function = row[0];
  MPI_Datatype type = typeOf(row[2]);
  MPI_Op op = opOf(row[3]);
  int size = 0, ranks = 0, n = 0;
  MPI_Type_size(type, &size);
  MPI_Comm_size(comm, &ranks);
  n = atoi(row[1]) / size;
  size_t bytes = (size_t)(n + 1) * (size_t)size * (size_t)ranks;
  void *x = calloc(bytes, 1), *y = calloc(bytes, 1);
  const void *in = strcmp(row[4], "in-place") == 0 ? MPI_IN_PLACE : x;
  if (strcmp(function, "barrier") == 0)
    MPI_Barrier(comm);
  else if (strcmp(function, "bcast") == 0)
    MPI_Bcast(x, n, type, 0, comm);
  else if (strcmp(function, "reduce") == 0)
    MPI_Reduce(x, y, n, type, op, 0, comm);
  else if (strcmp(function, "allreduce") == 0)
    MPI_Allreduce(in, y, n, type, op, comm);
  else if (strcmp(function, "allgather") == 0)
    MPI_Allgather(in, n, type, y, n, type, comm);
  else if (strcmp(function, "alltoall") == 0)
    MPI_Alltoall(x, n, type, y, n, type, comm);
  else if (strcmp(function, "gather") == 0)
    MPI_Gather(x, n, type, y, n, type, 0, comm);
  else if (strcmp(function, "scatter") == 0)
    MPI_Scatter(x, n, type, y, n, type, 0, comm);
  else if (strcmp(function, "reduce_scatter_block") == 0)
    MPI_Reduce_scatter_block(x, y, n, type, op, comm);
  else if (strcmp(function, "scan") == 0)
    MPI_Scan(x, y, n, type, op, comm);
  if (strcmp(row[3], "matmul") == 0)
    MPI_Op_free(&op);
  free(x);
  free(y);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 1; i + kWords <= argc; i += kWords)
    call(argv + i);
  MPI_Finalize();
  return 0;
}
