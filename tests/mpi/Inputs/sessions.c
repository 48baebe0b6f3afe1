// Calls on a communicator of a session: "alone", without MPI_Init; "around", with MPI_Init and
// MPI_Finalize between; "within", from MPI_Init to MPI_Finalize.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  MPI_Session session;
  MPI_Comm all, ring;
} Part;

static Part open(const char *name) {
  Part part;
  MPI_Group group;
  int isPeriodic = 1, ranks;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part.session);
  MPI_Group_from_session_pset(part.session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part.all);
  MPI_Group_free(&group);
  MPI_Comm_size(part.all, &ranks);
  MPI_Cart_create(part.all, 1, &ranks, &isPeriodic, 0, &part.ring);
  return part;
}

static void close(Part part) {
  MPI_Comm_free(&part.ring);
  MPI_Comm_free(&part.all);
  MPI_Session_finalize(&part.session);
}

// How many of the calls were right.
static int use(const Part *part) {
  int rank, ranks, before, behind, right = 0, got[2], sum;
  MPI_Request request;
  MPI_Comm_rank(part->ring, &rank);
  MPI_Comm_size(part->ring, &ranks);
  MPI_Cart_shift(part->ring, 0, 1, &before, &behind);
  for (int i = 0; i < 10; ++i) {
    got[0] = got[1] = sum = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, part->ring);
    right += got[0] == before && got[1] == behind;
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, part->ring, &request);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part->all);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right += got[0] == before && got[1] == behind && sum == ranks * (ranks - 1) / 2;
  }
  return right;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "alone";
  int right = 0, rank, ranks, isMixed = strcmp(how, "alone") != 0;
  Part around, within;
  if (strcmp(how, "within") != 0) {
    around = open("around");
    right += use(&around) == 20;
  }
  if (isMixed) {
    MPI_Init(&argc, &argv);
    within = open("within");
    right += use(&within) == 20;
    close(within);
    if (strcmp(how, "around") == 0)
      right += use(&around) == 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Finalize();
  }
  if (strcmp(how, "within") != 0) {
    right += use(&around) == 20;
    MPI_Comm_rank(around.all, &rank);
    MPI_Comm_size(around.all, &ranks);
    close(around);
  }
  if (rank == 0 && right == (isMixed ? strcmp(how, "around") == 0 ? 4 : 1 : 2))
    printf("%s: %d ranks\n", how, ranks);
  return 0;
}
