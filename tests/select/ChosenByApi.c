/* Prints what the C API chooses, as a program sees it.
 *
 * usage: chosen-by-api LIBRARY|- RANKS TOPOLOGY [FUNCTION BYTES TYPE OP FORM]... */
#include "colldsl/colldsl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWords = 5 };

/* Names in the order of colldsl_type and colldsl_op. */
static const char *const kTypes[] = {"i8",  "u8",  "i16", "u16", "i32",
                                     "u32", "i64", "u64", "f32", "f64"};
static const int kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
static const char *const kOps[] = {"sum", "prod", "min",  "max", "land",
                                   "lor", "lxor", "band", "bor", "bxor"};

struct Job {
  colldsl_context *context;
  const char *library;
  char **words;
  int rows;
};

static int find(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; ++i)
    if (strcmp(names[i], name) == 0)
      return i;
  return -1;
}

/* How many blocks of n elements the buffers have on this rank: 0, 1, or one per rank. */
static void shape(const char *function, uint32_t rank, uint32_t ranks, uint32_t *x, uint32_t *y) {
  int is_root = rank == 0;
  *x = *y = 1;
  if (strcmp(function, "barrier") == 0 || strcmp(function, "bcast") == 0)
    *x = *y = 0;
  else if (strcmp(function, "reduce") == 0)
    *y = is_root;
  else if (strcmp(function, "allgather") == 0)
    *y = ranks;
  else if (strcmp(function, "alltoall") == 0)
    *x = *y = ranks;
  else if (strcmp(function, "gather") == 0)
    *y = is_root ? ranks : 0;
  else if (strcmp(function, "scatter") == 0)
    *x = is_root ? ranks : 0;
  else if (strcmp(function, "reduce_scatter_block") == 0)
    *x = ranks;
}

static int fail(void) {
  fprintf(stderr, "%s\n", colldsl_last_error());
  return 1;
}

static int bind(colldsl_plan *plan, const char *name, uint64_t bytes) {
  if (bytes == 0)
    return 0;
  void *memory = calloc(bytes, 1); /* as long as the process */
  return memory && colldsl_plan_bind(plan, name, memory, bytes) == COLLDSL_OK ? 0 : fail();
}

static int choose(colldsl_comm *comm, colldsl_library *library, char **row) {
  const char *function = row[0];
  uint64_t bytes = strtoull(row[1], NULL, 10);
  int type = find(kTypes, 10, row[2]), op = find(kOps, 10, row[3]);
  int in_place = strcmp(row[4], "in-place") == 0;
  uint32_t rank = colldsl_comm_rank(comm), x = 0, y = 0;
  shape(function, rank, colldsl_comm_size(comm), &x, &y);
  colldsl_plan *plan = NULL;
  if (colldsl_plan_create(comm, library, function, &plan) ||
      colldsl_plan_set_type(plan, (colldsl_type)type) ||
      colldsl_plan_set_in_place(plan, in_place) ||
      colldsl_plan_set_count(plan, bytes / (uint64_t)kSizes[type]) ||
      (op >= 0 && colldsl_plan_set_op(plan, "op", (colldsl_op)op)))
    return fail();
  if (strcmp(function, "bcast") == 0 && bind(plan, "buf", bytes))
    return 1;
  if (bind(plan, "x", in_place ? 0 : x * bytes) || bind(plan, "y", y * bytes))
    return 1;
  colldsl_plan_description info = {.size = sizeof info};
  if (colldsl_plan_commit(plan) || colldsl_plan_info(plan, &info))
    return fail();
  if (rank == 0)
    printf("%s, %s\n", info.collective, info.reason);
  colldsl_plan_destroy(plan);
  return 0;
}

static int body(colldsl_comm *comm, void *user) {
  struct Job *job = user;
  colldsl_library *library = NULL;
  if (strcmp(job->library, "-") != 0 &&
      colldsl_library_open(job->context, job->library, &library) != COLLDSL_OK)
    return fail();
  for (int i = 0; i < job->rows; ++i)
    if (choose(comm, library, job->words + i * kWords))
      return 1;
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.topology = argv[3];
  struct Job job = {NULL, argv[1], argv + 4, (argc - 4) / kWords};
  if (colldsl_context_create(&options, &job.context) != COLLDSL_OK ||
      colldsl_fork(job.context, (uint32_t)atoi(argv[2]), body, &job, 60) != COLLDSL_OK)
    return fail();
  colldsl_context_destroy(job.context);
  return 0;
}
