/* Heat in a plate: a halo exchange in C.
 *
 * The plate is cut into tiles, one per rank, in a grid of ranks. In each step every rank gives
 * the edges of its tile to its four neighbours, gets theirs, and computes its tile anew. The
 * exchange is one plan, made once and started in each step.
 *
 * usage: halo [RANKS [SIZE [STEPS]]]
 */
#include "colldsl/colldsl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };

typedef struct Job {
  int size; /* rows and columns of the plate */
  int steps;
} Job;

typedef struct Tile {
  int rows, columns;  /* of the tile itself; around it lies the halo, one cell wide */
  int top, left;      /* where it lies in the plate */
  double *now, *next; /* (rows + 2) * (columns + 2) cells */
} Tile;

static double *cell(const Tile *tile, double *cells, int row, int column) {
  return cells + (size_t)row * (size_t)(tile->columns + 2) + (size_t)column;
}

/* The most nearly square grid of so many ranks. */
static void shape(int ranks, int *rows, int *columns) {
  *rows = (int)sqrt((double)ranks);
  while (ranks % *rows != 0)
    --*rows;
  *columns = ranks / *rows;
}

/* Piece i of k of the plate: pieces differ by one at most. */
static int begin_of(int size, int i, int k) { return (int)((long)size * i / k); }

/* The first row is hot, everything else cold. */
static int make_tile(Tile *tile, const Job *job, int grid_rows, int grid_columns, int row,
                     int column) {
  tile->top = begin_of(job->size, row, grid_rows);
  tile->rows = begin_of(job->size, row + 1, grid_rows) - tile->top;
  tile->left = begin_of(job->size, column, grid_columns);
  tile->columns = begin_of(job->size, column + 1, grid_columns) - tile->left;
  size_t cells = (size_t)(tile->rows + 2) * (size_t)(tile->columns + 2);
  tile->now = calloc(cells, sizeof(double));
  tile->next = calloc(cells, sizeof(double));
  if (!tile->now || !tile->next)
    return 0;
  if (tile->top == 0 && tile->rows > 0)
    for (int c = 1; c <= tile->columns; ++c)
      *cell(tile, tile->now, 1, c) = *cell(tile, tile->next, 1, c) = 100.0;
  return 1;
}

static void pack(const Tile *tile, double *edges) {
  for (int c = 1; c <= tile->columns; ++c)
    *edges++ = *cell(tile, tile->now, 1, c);
  for (int c = 1; c <= tile->columns; ++c)
    *edges++ = *cell(tile, tile->now, tile->rows, c);
  for (int r = 1; r <= tile->rows; ++r)
    *edges++ = *cell(tile, tile->now, r, 1);
  for (int r = 1; r <= tile->rows; ++r)
    *edges++ = *cell(tile, tile->now, r, tile->columns);
}

static void unpack(const Tile *tile, const double *edges) {
  for (int c = 1; c <= tile->columns; ++c)
    *cell(tile, tile->now, 0, c) = *edges++;
  for (int c = 1; c <= tile->columns; ++c)
    *cell(tile, tile->now, tile->rows + 1, c) = *edges++;
  for (int r = 1; r <= tile->rows; ++r)
    *cell(tile, tile->now, r, 0) = *edges++;
  for (int r = 1; r <= tile->rows; ++r)
    *cell(tile, tile->now, r, tile->columns + 1) = *edges++;
}

/* Each inner cell of the plate becomes the mean of its neighbours. */
static void compute(Tile *tile, int size) {
  for (int r = 1; r <= tile->rows; ++r)
    for (int c = 1; c <= tile->columns; ++c) {
      int row = tile->top + r - 1, column = tile->left + c - 1;
      if (row == 0 || row == size - 1 || column == 0 || column == size - 1)
        continue;
      *cell(tile, tile->next, r, c) =
          0.25 * (*cell(tile, tile->now, r - 1, c) + *cell(tile, tile->now, r + 1, c) +
                  *cell(tile, tile->now, r, c - 1) + *cell(tile, tile->now, r, c + 1));
    }
  double *swap = tile->now;
  tile->now = tile->next;
  tile->next = swap;
}

static int say(const char *what) {
  fprintf(stderr, "halo: %s: %s\n", what, colldsl_last_error());
  return 0;
}

/* A neighbour beyond the plate's edge is -1: that side exchanges nothing. What arrives from the
 * north was sent to the south, so slots are told apart by the direction in which data moves. */
static colldsl_plan *make_exchange(colldsl_comm *comm, const Tile *tile, int grid_rows,
                                   int grid_columns, double *send, double *recv) {
  int rank = (int)colldsl_comm_rank(comm);
  int row = rank / grid_columns, column = rank % grid_columns;
  int32_t peers[SIDES] = {row > 0 ? rank - grid_columns : -1,
                          row + 1 < grid_rows ? rank + grid_columns : -1,
                          column > 0 ? rank - 1 : -1, column + 1 < grid_columns ? rank + 1 : -1};
  int64_t leaving[SIDES] = {NORTH, SOUTH, WEST, EAST};
  int64_t arriving[SIDES] = {SOUTH, NORTH, EAST, WEST};
  uint64_t counts[SIDES] = {(uint64_t)tile->columns, (uint64_t)tile->columns, (uint64_t)tile->rows,
                            (uint64_t)tile->rows};
  uint64_t bytes = 2 * (counts[NORTH] + counts[WEST]) * sizeof(double);
  colldsl_graph *graph = NULL;
  colldsl_plan *plan = NULL;
  int ok = !colldsl_graph_create(comm, SIDES, peers, leaving, SIDES, peers, arriving, &graph) &&
           !colldsl_plan_create(comm, NULL, "neighbor_alltoallv", &plan) &&
           !colldsl_plan_set_type(plan, COLLDSL_F64) && !colldsl_plan_set_graph(plan, "g", graph) &&
           !colldsl_plan_bind_const(plan, "send", send, bytes) &&
           !colldsl_plan_bind(plan, "recv", recv, bytes) &&
           !colldsl_plan_set_blocks(plan, "send", SIDES, counts, NULL) &&
           !colldsl_plan_set_blocks(plan, "recv", SIDES, counts, NULL);
  /* All ranks take part, also one whose description failed. */
  ok = (plan == NULL || !colldsl_plan_commit(plan)) && ok;
  colldsl_graph_destroy(graph);
  if (ok)
    return plan;
  say("the exchange");
  colldsl_plan_destroy(plan);
  return NULL;
}

/* The heat of the whole plate, at rank 0. */
static int print_heat(colldsl_comm *comm, Tile *tile, const Job *job) {
  double own = 0, all = 0;
  for (int r = 1; r <= tile->rows; ++r)
    for (int c = 1; c <= tile->columns; ++c)
      own += *cell(tile, tile->now, r, c);
  colldsl_plan *sum = NULL;
  int ok = !colldsl_plan_create(comm, NULL, "reduce", &sum) &&
           !colldsl_plan_set_type(sum, COLLDSL_F64) && !colldsl_plan_set_count(sum, 1) &&
           !colldsl_plan_bind_const(sum, "x", &own, sizeof own) &&
           !colldsl_plan_bind(sum, "y", &all, sizeof all) && !colldsl_plan_commit(sum) &&
           !colldsl_plan_start(sum) && !colldsl_plan_wait(sum, 60);
  if (!ok)
    say("the sum");
  else if (colldsl_comm_rank(comm) == 0)
    printf("%d x %d cells, %d steps: heat %.6f\n", job->size, job->size, job->steps, all);
  colldsl_plan_destroy(sum);
  return ok;
}

static int run(colldsl_comm *comm, void *user) {
  const Job *job = user;
  int grid_rows, grid_columns;
  shape((int)colldsl_comm_size(comm), &grid_rows, &grid_columns);
  int rank = (int)colldsl_comm_rank(comm);
  Tile tile;
  if (!make_tile(&tile, job, grid_rows, grid_columns, rank / grid_columns, rank % grid_columns)) {
    fprintf(stderr, "halo: no memory\n");
    return 1;
  }
  size_t edge_cells = 2 * (size_t)(tile.rows + tile.columns);
  double *send = malloc(edge_cells * sizeof(double) + 1);
  double *recv = calloc(edge_cells + 1, sizeof(double));
  colldsl_plan *exchange =
      send && recv ? make_exchange(comm, &tile, grid_rows, grid_columns, send, recv) : NULL;
  int ok = exchange != NULL;
  for (int step = 0; ok && step < job->steps; ++step) {
    pack(&tile, send);
    ok = !colldsl_plan_start(exchange) && !colldsl_plan_wait(exchange, 60);
    if (!ok)
      say("a step");
    unpack(&tile, recv);
    compute(&tile, job->size);
  }
  ok = ok && print_heat(comm, &tile, job);
  colldsl_plan_destroy(exchange);
  free(send);
  free(recv);
  free(tile.now);
  free(tile.next);
  return ok ? 0 : 1;
}

static int number(int argc, char **argv, int i, int otherwise) {
  return argc > i ? atoi(argv[i]) : otherwise;
}

int main(int argc, char **argv) {
  int ranks = number(argc, argv, 1, 4);
  Job job = {number(argc, argv, 2, 64), number(argc, argv, 3, 200)};
  if (argc > 4 || ranks < 1 || job.size < 1 || job.steps < 0) {
    fprintf(stderr, "usage: halo [RANKS [SIZE [STEPS]]]\n");
    return 2;
  }
  colldsl_context *context;
  if (colldsl_context_create(NULL, &context) ||
      colldsl_fork(context, (uint32_t)ranks, run, &job, -1)) {
    say("failed");
    return 1;
  }
  colldsl_context_destroy(context);
  return 0;
}
