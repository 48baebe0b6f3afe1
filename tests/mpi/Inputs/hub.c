// Rank 0 and each other rank are neighbours. Repeats a neighbour alltoall, of so many ints along
// each edge, and says whether all that came was right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int value(int from, int to, int call, int i) {
  return from * 1000 + to * 100 + call * 10 + i;
}

int main(int argc, char **argv) {
  int calls = argc > 1 ? atoi(argv[1]) : 1, ints = argc > 2 ? atoi(argv[2]) : 1;
  int rank = 0, size = 0, wrong = 0, allWrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int degree = rank == 0 ? size - 1 : 1;
  int *peers = malloc(sizeof(int) * (size_t)degree);
  for (int i = 0; i < degree; ++i)
    peers[i] = rank == 0 ? i + 1 : 0;
  MPI_Comm hub;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, peers, MPI_UNWEIGHTED, degree, peers,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &hub);
  int *sent = malloc(sizeof(int) * (size_t)(degree * ints));
  int *got = malloc(sizeof(int) * (size_t)(degree * ints));
  for (int call = 0; call < calls; ++call) {
    for (int p = 0; p < degree; ++p)
      for (int i = 0; i < ints; ++i)
        sent[p * ints + i] = value(rank, peers[p], call, i);
    MPI_Neighbor_alltoall(sent, ints, MPI_INT, got, ints, MPI_INT, hub);
    for (int p = 0; p < degree; ++p)
      for (int i = 0; i < ints; ++i)
        wrong += got[p * ints + i] != value(peers[p], rank, call, i);
  }
  MPI_Reduce(&wrong, &allWrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("hub: %d wrong\n", allWrong);
  free(peers);
  free(sent);
  free(got);
  MPI_Comm_free(&hub);
  MPI_Finalize();
  return 0;
}
