/* Ranks that a launcher started sum up their numbers. WITH_MPI: over a communicator of MPI, with
 * its ranks in reversed order. */
#include "colldsl/colldsl.h"
#ifdef WITH_MPI
#include "colldsl/mpi.h"
#endif

#include <stdio.h>

static int sum(colldsl_comm *comm) {
  double mine = colldsl_comm_rank(comm) + 1, all = 0;
  double ranks = colldsl_comm_size(comm), expected = ranks * (ranks + 1) / 2;
  colldsl_plan *plan = NULL;
  int fine = colldsl_plan_create(comm, NULL, "allreduce", &plan) == COLLDSL_OK &&
             colldsl_plan_set_type(plan, COLLDSL_F64) == COLLDSL_OK &&
             colldsl_plan_set_count(plan, 1) == COLLDSL_OK &&
             colldsl_plan_bind(plan, "x", &mine, sizeof mine) == COLLDSL_OK &&
             colldsl_plan_bind(plan, "y", &all, sizeof all) == COLLDSL_OK &&
             colldsl_plan_commit(plan) == COLLDSL_OK && colldsl_plan_start(plan) == COLLDSL_OK &&
             colldsl_plan_wait(plan, 60) == COLLDSL_OK;
  if (!fine)
    fprintf(stderr, "rank %u: %s\n", colldsl_comm_rank(comm), colldsl_last_error());
  colldsl_plan_destroy(plan);
  if (fine && all != expected)
    fprintf(stderr, "rank %u: the sum is %g, not %g\n", colldsl_comm_rank(comm), all, expected);
  return fine && all == expected;
}

int main(int argc, char **argv) {
  colldsl_context *context = NULL;
  colldsl_comm *comm = NULL;
  int rank = -1;
  (void)argc, (void)argv;
  colldsl_status status = colldsl_context_create(NULL, &context);
#ifdef WITH_MPI
  MPI_Comm reversed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_rank(reversed, &rank);
  if (status == COLLDSL_OK)
    status = colldsl_comm_create_from_mpi(context, reversed, &comm);
#else
  if (status == COLLDSL_OK)
    status = colldsl_comm_create(context, NULL, &comm);
#endif
  if (status != COLLDSL_OK)
    fprintf(stderr, "no communicator: %s\n", colldsl_last_error());
  int fine = status == COLLDSL_OK && sum(comm) && sum(comm);
  if (rank >= 0 && fine && colldsl_comm_rank(comm) != (uint32_t)rank)
    fine = 0, fprintf(stderr, "rank %d became rank %u\n", rank, colldsl_comm_rank(comm));
  if (fine && colldsl_comm_rank(comm) == 0)
    printf("%u ranks\n", colldsl_comm_size(comm));
  colldsl_comm_destroy(comm);
  colldsl_context_destroy(context);
#ifdef WITH_MPI
  MPI_Comm_free(&reversed);
  MPI_Finalize();
#endif
  return fine ? 0 : 1;
}
