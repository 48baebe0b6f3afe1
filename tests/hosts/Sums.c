/* Ranks that a launcher started sum up numbers: `sums RUNS`. Each prints its rank and the chosen
 * collective; one that fails prints why and how long the call took, and ends with 3. */
#include "colldsl/colldsl.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(unsigned rank, double since) {
  printf("rank %u failed after %.1f s: %s\n", rank, now() - since, colldsl_last_error());
  fflush(stdout);
  return 3;
}

int main(int argc, char **argv) {
  enum { N = 1000 };
  static double x[N], y[N];
  colldsl_context *context = NULL;
  colldsl_comm *comm = NULL;
  colldsl_plan *plan = NULL;
  double begin = now(), expected = 0;
  int runs = argc > 1 ? atoi(argv[1]) : 1;
  if (colldsl_context_create(NULL, &context) || colldsl_comm_create(context, NULL, &comm))
    return fail(0, begin);
  unsigned rank = colldsl_comm_rank(comm), size = colldsl_comm_size(comm);
  expected = size * (size + 1) / 2.0;
  for (int i = 0; i < N; ++i)
    x[i] = rank + 1;
  if (colldsl_plan_create(comm, NULL, "allreduce", &plan) ||
      colldsl_plan_set_type(plan, COLLDSL_F64) || colldsl_plan_set_count(plan, N) ||
      colldsl_plan_bind(plan, "x", x, sizeof x) || colldsl_plan_bind(plan, "y", y, sizeof y) ||
      colldsl_plan_commit(plan))
    return fail(rank, begin);
  printf("rank %u of %u is process %d: %s\n", rank, size, (int)getpid(),
         colldsl_plan_collective(plan));
  fflush(stdout);
  for (int run = 0; run < runs; ++run) {
    begin = now();
    if (colldsl_plan_start(plan) || colldsl_plan_wait(plan, 60))
      return fail(rank, begin);
    for (int i = 0; i < N; ++i)
      if (y[i] != expected)
        return printf("rank %u: the sum is %g, not %g\n", rank, y[i], expected), 4;
  }
  colldsl_plan_destroy(plan);
  colldsl_comm_destroy(comm);
  colldsl_context_destroy(context);
  return 0;
}
