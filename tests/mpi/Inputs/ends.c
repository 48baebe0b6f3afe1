// Ends as the first argument says, amid exchanges round a ring: "killed": rank 1 is killed;
// "pending": MPI_Finalize with requests left; "spawned": with another process that it starts.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int sent[2], got[2];

static MPI_Comm makeRing(MPI_Comm all) {
  int ranks, isPeriodic = 1;
  MPI_Comm ring;
  MPI_Comm_size(all, &ranks);
  MPI_Cart_create(all, 1, &ranks, &isPeriodic, 0, &ring);
  return ring;
}

static void exchangeOften(MPI_Comm ring, int times) {
  for (int i = 0; i < times; ++i)
    MPI_Neighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, ring);
}

static void spawn(char *program, MPI_Comm parent) {
  MPI_Comm other = parent, both;
  char *arguments[] = {"spawned", NULL};
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &both);
  MPI_Comm ring = makeRing(both);
  exchangeOften(ring, 20);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int rank;
  MPI_Comm parent;
  MPI_Request left;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  MPI_Comm ring = makeRing(MPI_COMM_WORLD);
  exchangeOften(ring, 20);
  if (strcmp(how, "killed") == 0) {
    if (rank == 1)
      kill(getpid(), SIGKILL);
    exchangeOften(ring, 1000000000);
  } else if (strcmp(how, "pending") == 0) {
    MPI_Ineighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, ring, &left);
  } else if (strcmp(how, "spawned") == 0) {
    spawn(argv[0], parent);
  }
  if (rank == 0 && parent == MPI_COMM_NULL)
    printf("%s: ended\n", how);
  MPI_Finalize();
  return 0;
}
