/* Heat on a periodic plate, as an MPI program: a halo exchange by MPI_Neighbor_alltoall.
 * Each rank has a square tile. In each step it sends its four edges and receives four. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 64, STEPS = 200, SIDES = 4 };

static double tile[SIDE + 2][SIDE + 2], next[SIDE + 2][SIDE + 2];

/* MPI's order of the neighbours on a grid: up, down, left, right. */
static void pack(double edges[SIDES][SIDE]) {
  for (int i = 0; i < SIDE; ++i) {
    edges[0][i] = tile[1][i + 1];
    edges[1][i] = tile[SIDE][i + 1];
    edges[2][i] = tile[i + 1][1];
    edges[3][i] = tile[i + 1][SIDE];
  }
}

static void unpack(double halo[SIDES][SIDE]) {
  for (int i = 0; i < SIDE; ++i) {
    tile[0][i + 1] = halo[0][i];
    tile[SIDE + 1][i + 1] = halo[1][i];
    tile[i + 1][0] = halo[2][i];
    tile[i + 1][SIDE + 1] = halo[3][i];
  }
}

int main(int argc, char **argv) {
  double edges[SIDES][SIDE], halo[SIDES][SIDE], own = 0, all = 0;
  int ranks, rank, dims[2] = {0, 0}, periodic[2] = {1, 1};
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  if (rank == 0)
    tile[SIDE / 2][SIDE / 2] = 1000;
  for (int step = 0; step < STEPS; ++step) {
    pack(edges);
    MPI_Neighbor_alltoall(edges, SIDE, MPI_DOUBLE, halo, SIDE, MPI_DOUBLE, grid);
    unpack(halo);
    for (int r = 1; r <= SIDE; ++r)
      for (int c = 1; c <= SIDE; ++c)
        next[r][c] = 0.25 * (tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1]);
    memcpy(tile, next, sizeof tile);
  }
  for (int r = 1; r <= SIDE; ++r)
    for (int c = 1; c <= SIDE; ++c)
      own += tile[r][c];
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  if (rank == 0)
    printf("%d x %d tiles, %d steps: heat %.6f\n", dims[0], dims[1], STEPS, all);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
