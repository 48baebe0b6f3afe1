// Ends as the first argument says, amid exchanges round a ring: "killed": rank 1 is killed;
// "survived": rank 1 is killed, the others are told, and say so; "aborted": rank 1 calls MPI_Abort;
// "exited": rank 1 ends itself with 3; "left": MPI_Finalize with all sorts of things left;
// "attributes": what is left is used and freed by an attribute of MPI_COMM_SELF, in MPI_Finalize;
// "spawned": with another process that it starts; "unfinished": with messages that are received
// while their senders are in MPI_Finalize.
#include "mpi/Mpi.h"

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

static int sumOfOnes(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static void spawn(char *program, MPI_Comm parent) {
  MPI_Comm other = parent, both;
  int old = sumOfOnes(MPI_COMM_WORLD), all, hasParent = parent != MPI_COMM_NULL;
  char *arguments[] = {"spawned", NULL};
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(other, hasParent, &both);
  MPI_Comm_size(both, &all);
  if (sumOfOnes(both) != all || sumOfOnes(MPI_COMM_WORLD) != old)
    printf("wrong sum\n");
  MPI_Comm ring = makeRing(both);
  exchangeOften(ring, 20);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&other);
}

static void survive(MPI_Comm ring, int rank) {
  int code = MPI_SUCCESS;
  double last = 0;
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  for (int i = 0; code == MPI_SUCCESS; ++i) {
    last = MPI_Wtime();
    if (rank == 1 && i == 1000)
      kill(getpid(), SIGKILL);
    code = i % 2 ? MPI_Neighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, ring)
                 : MPI_Allreduce(sent, got, 1, MPI_INT, MPI_SUM, ring);
  }
  printf("survived: rank %d was told%s\n", rank, MPI_Wtime() - last < 10 ? "" : ", but late");
  fflush(stdout);
  sleep(1); // the others are told by themselves
  _exit(0);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
  for (int i = 0; i < 2 * *n; ++i)
    ((int *)inout)[i] += ((int *)in)[i];
}

// Begun and not ended, made and not freed.
static void leaveAll(MPI_Comm ring) {
  static int in[4], out[4], more[4];
  MPI_Request request;
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Comm copy;
  void *memory;
  MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
  MPI_Comm_dup(ring, &copy);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(add, 1, &op);
  MPI_Iallreduce(in, out, 2, pair, op, copy, &request);
  MPI_Request_free(&request);
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  MPI_Ineighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, copy, &request);
  MPI_Comm_free(&copy);
  MPI_Ibarrier(ring, &request);
  COLLDSL_MPI_PERSISTENT(Neighbor_allgather_init)
  (sent, 1, MPI_INT, more, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  MPI_Start(&request);
}

static void leaveMessages(MPI_Comm ring, int rank) {
  enum { kInts = 64 << 10 };
  static int values[kInts], buffered[kInts + 1000];
  static const int tags[] = {1, 2};
  MPI_Request request;
  for (int i = 0; i < kInts; ++i)
    values[i] = rank + i;
  MPI_Barrier(ring);
  if (rank != 0) {
    MPI_Buffer_attach(buffered, sizeof buffered);
    MPI_Isend(values, kInts, MPI_INT, 0, tags[0], ring, &request);
    MPI_Request_free(&request);
    MPI_Bsend(values, kInts, MPI_INT, 0, tags[1], ring);
    return;
  }
  int ranks, wrong = 0;
  MPI_Comm_size(ring, &ranks);
  usleep(200000); // the others have come to MPI_Finalize
  for (int from = 1; from < ranks; ++from)
    for (int k = 0; k < 2; ++k) {
      MPI_Recv(values, kInts, MPI_INT, from, tags[k], ring, MPI_STATUS_IGNORE);
      for (int i = 0; i < kInts; ++i)
        wrong += values[i] != from + i;
    }
  printf("unfinished: %d wrong\n", wrong);
}

static MPI_Comm usedLast;
static MPI_Request freedLast;

static int useLast(MPI_Comm comm, int key, void *value, void *extra) {
  int rank = *(int *)value, ranks, before, behind;
  MPI_Cart_shift(usedLast, 0, 1, &before, &behind);
  MPI_Comm_size(usedLast, &ranks);
  sent[0] = rank;
  exchangeOften(usedLast, 20);
  MPI_Start(&freedLast);
  MPI_Wait(&freedLast, MPI_STATUS_IGNORE);
  MPI_Request_free(&freedLast);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && got[0] == before && got[1] == behind)
    printf("attributes: used\n");
  MPI_Comm_free(&usedLast);
  return MPI_SUCCESS;
}

static void useInTheEnd(MPI_Comm ring, int *rank) {
  int key;
  usedLast = ring;
  COLLDSL_MPI_PERSISTENT(Neighbor_allgather_init)
  (sent, 1, MPI_INT, got, 1, MPI_INT, ring, MPI_INFO_NULL, &freedLast);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, useLast, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, rank);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int rank;
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  MPI_Comm ring = makeRing(MPI_COMM_WORLD);
  exchangeOften(ring, 20);
  if (strcmp(how, "killed") == 0) {
    if (rank == 1)
      kill(getpid(), SIGKILL);
    exchangeOften(ring, 1000000000);
  } else if (strcmp(how, "exited") == 0) {
    if (rank == 1)
      _exit(3);
    exchangeOften(ring, 1000000000);
  } else if (strcmp(how, "aborted") == 0) {
    if (rank == 1)
      MPI_Abort(MPI_COMM_WORLD, 7);
    exchangeOften(ring, 1000000000);
  } else if (strcmp(how, "survived") == 0) {
    survive(ring, rank);
  } else if (strcmp(how, "left") == 0) {
    leaveAll(ring);
  } else if (strcmp(how, "unfinished") == 0) {
    leaveMessages(ring, rank);
  } else if (strcmp(how, "attributes") == 0) {
    useInTheEnd(ring, &rank);
  } else if (strcmp(how, "spawned") == 0) {
    spawn(argv[0], parent);
  }
  if (rank == 0 && parent == MPI_COMM_NULL)
    printf("%s: ended\n", how);
  MPI_Finalize();
  return 0;
}
