/* A collective of one's own: written in grid.coll, compiled into a library with
 *
 *   colldsl compile grid.coll -o grid.cdag
 *
 * and run from C.
 *
 * usage: grid LIBRARY [RANKS [COLUMNS]]
 */
#include "colldsl/colldsl.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000 };

typedef struct Job {
  colldsl_library *library;
  int columns;
} Job;

static int run(colldsl_comm *comm, void *user) {
  const Job *job = user;
  int64_t rank = colldsl_comm_rank(comm), ranks = colldsl_comm_size(comm);
  int64_t x[COUNT], y[COUNT];
  for (int64_t i = 0; i < COUNT; ++i)
    x[i] = rank * COUNT + i;

  colldsl_plan *plan;
  if (colldsl_plan_create(comm, job->library, "allreduce_grid", &plan))
    return 1;
  colldsl_plan_set_type(plan, COLLDSL_I64);
  colldsl_plan_set_op(plan, "op", COLLDSL_SUM);
  colldsl_plan_set_int(plan, "columns", job->columns);
  colldsl_plan_set_count(plan, COUNT);
  colldsl_plan_bind_const(plan, "x", x, sizeof x);
  colldsl_plan_bind(plan, "y", y, sizeof y);
  int failed = colldsl_plan_commit(plan) || colldsl_plan_start(plan) || colldsl_plan_wait(plan, 60);
  if (failed)
    fprintf(stderr, "grid: rank %d: %s\n", (int)rank, colldsl_last_error());
  for (int64_t i = 0; i < COUNT && !failed; ++i)
    if (y[i] != ranks * (ranks - 1) / 2 * COUNT + ranks * i) {
      fprintf(stderr, "grid: rank %d: element %d is %lld\n", (int)rank, (int)i, (long long)y[i]);
      failed = 1;
    }
  colldsl_plan_destroy(plan);
  return failed;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: grid LIBRARY [RANKS [COLUMNS]]\n");
    return 2;
  }
  uint32_t ranks = argc > 2 ? (uint32_t)atoi(argv[2]) : 4;
  Job job = {NULL, argc > 3 ? atoi(argv[3]) : 2};
  colldsl_context *context;
  if (colldsl_context_create(NULL, &context) ||
      colldsl_library_open(context, argv[1], &job.library) ||
      colldsl_fork(context, ranks, run, &job, -1)) {
    fprintf(stderr, "grid: %s\n", colldsl_last_error());
    return 1;
  }
  printf("%u ranks: %d sums are right\n", ranks, COUNT);
  colldsl_library_close(job.library);
  colldsl_context_destroy(context);
  return 0;
}
