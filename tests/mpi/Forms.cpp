// What MPI 4 and later have beside the forms of collectives that the judges try: communicators of
// sessions and of hardware kinds, partitioned messages, large counts of messages, the status of
// many requests; each beside collectives that are under way. What an MPI does not have is left out.
#include "mpi/Mpi.h"

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int kCount = 30000; // too many to be on the way all at once
int checked = 0, wrong = 0;

void check(bool isRight, const char *what) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ++checked;
  wrong += !isRight;
  if (!isRight)
    std::printf("rank %d: wrong: %s\n", rank, what);
}

struct Group {
  MPI_Comm comm;
  int rank = 0, ranks = 1;
  explicit Group(MPI_Comm made) : comm(made) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  int sumOfRanks() const { return ranks * (ranks - 1) / 2; }
};

/// A sum over all ranks that is under way.
class Sum {
public:
  explicit Sum(const Group &group) : group_(group), in_(kCount, group.rank), out_(kCount, -1) {}
  MPI_Request start() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(in_.data(), out_.data(), kCount, MPI_INT, MPI_SUM, group_.comm, &request);
    return request;
  }
  MPI_Request make() {
    MPI_Request request = MPI_REQUEST_NULL;
    COLLDSL_MPI_PERSISTENT(Allreduce_init)
    (in_.data(), out_.data(), kCount, MPI_INT, MPI_SUM, group_.comm, MPI_INFO_NULL, &request);
    return request;
  }
  void check(const char *what) const {
    ::check(out_.front() == group_.sumOfRanks() && out_.back() == group_.sumOfRanks(), what);
  }

private:
  Group group_;
  std::vector<int> in_, out_;
};

void useCollectives(MPI_Comm comm, const char *what) {
  Group group(comm);
  for (int i = 0; i < 6; ++i) {
    int sum = -1, root = group.rank == 0 ? i : -1;
    Sum large(group);
    MPI_Request request = large.start();
    MPI_Allreduce(&group.rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&root, 1, MPI_INT, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == group.sumOfRanks() && root == i, what);
    large.check(what);
  }
}

void trySplit(int kind, const char *resource, const char *what) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Info info;
  MPI_Info_create(&info);
  if (resource)
    MPI_Info_set(info, "mpi_hw_resource_type", resource);
  MPI_Comm_split_type(MPI_COMM_WORLD, kind, 0, info, &part);
  MPI_Info_free(&info);
  if (part == MPI_COMM_NULL)
    return;
  useCollectives(part, what);
  MPI_Comm_free(&part);
}

void tryHardwareKinds() {
  trySplit(MPI_COMM_TYPE_SHARED, nullptr, "a part with shared memory");
#if MPI_VERSION >= 4
  trySplit(MPI_COMM_TYPE_HW_UNGUIDED, nullptr, "a part of the hardware, unguided");
  trySplit(MPI_COMM_TYPE_HW_GUIDED, "mpi_shared_memory", "a part of the hardware, guided");
#endif
#ifdef MPI_COMM_TYPE_RESOURCE_GUIDED // MPI 4.1
  trySplit(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_shared_memory", "a part of a resource, guided");
#endif
  int kind = MPI_COMM_TYPE_SHARED;
  if (Group(MPI_COMM_WORLD).rank == 0)
    kind = MPI_UNDEFINED;
  trySplit(kind, nullptr, "a part without rank 0");
}

#ifdef COLLDSL_MPI_SESSIONS
void trySessions() {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "forms", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  useCollectives(comm, "a communicator of a session");
  Sum sum{Group(comm)};
  MPI_Request request = sum.make();
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  sum.check("a persistent sum of a session");
  MPI_Request_free(&request);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
#endif

#if MPI_VERSION >= 4
// Parts of a message go out one by one while a sum is under way; all are waited for at once.
void tryPartitioned() {
  constexpr int kParts = 4, kPart = 100;
  Group world(MPI_COMM_WORLD);
  int next = (world.rank + 1) % world.ranks, last = (world.rank + world.ranks - 1) % world.ranks;
  std::vector<int> sent(kParts * kPart), got(sent.size(), -1);
  Sum persistent(world), running(world);
  MPI_Request requests[4];
  MPI_Psend_init(sent.data(), kParts, kPart, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(got.data(), kParts, kPart, MPI_INT, last, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[1]);
  requests[2] = persistent.make();
  for (int i = 0; i < 3; ++i) {
    std::iota(sent.begin(), sent.end(), 1000 * world.rank + i);
    MPI_Startall(3, requests);
    requests[3] = running.start();
    for (int part = kParts - 1; part >= 0; --part)
      MPI_Pready(part, requests[0]);
    int isHere = 0;
    while (!isHere)
      MPI_Parrived(requests[1], kParts - 1, &isHere);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    check(got.front() == 1000 * last + i, "the first part");
    check(got.back() == 1000 * last + i + kParts * kPart - 1, "the last part");
    persistent.check("a persistent sum beside parts");
    running.check("a sum beside parts");
  }
  for (int i = 0; i < 3; ++i)
    MPI_Request_free(&requests[i]);
}

// Rank 0 waits in a message for a rank that waits for rank 0's part of a sum.
void tryLargeCounts() {
  Group world(MPI_COMM_WORLD);
  for (int form = 0; form < 3; ++form) {
    Sum sum(world);
    MPI_Request request = sum.start();
    int given = form, got = -1;
    if (world.rank == 0)
      for (int from = 1; from < world.ranks; ++from) {
        if (form == 0) {
          MPI_Recv_c(&got, 1, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (form == 1) {
          MPI_Message message;
          MPI_Mprobe(from, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
          MPI_Mrecv_c(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else {
          MPI_Sendrecv_c(&given, 1, MPI_INT, from, 7, &got, 1, MPI_INT, from, 6, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        check(got == form, "a message with a large count");
      }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum.check("a sum beside a message");
    if (world.rank != 0) {
      if (form == 0)
        MPI_Ssend_c(&given, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
      else
        MPI_Send_c(&given, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
      if (form == 2)
        MPI_Recv_c(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
#endif

#ifdef COLLDSL_MPI_STATUS_OF_MANY
// A sum that ends, a message that does not come yet, and a sum that was never started.
void tryStatusOfMany() {
  Group world(MPI_COMM_WORLD);
  Sum running(world), idle(world);
  int sent = 1, got = -1, flag = 0, index = -1, count = 0, indices[3];
  MPI_Status statuses[3];
  MPI_Request requests[3] = {MPI_REQUEST_NULL, running.start(), idle.make()};
  MPI_Irecv(&got, 1, MPI_INT, world.rank, 8, MPI_COMM_WORLD, &requests[0]);
  while (!flag)
    MPI_Request_get_status_any(3, requests, &index, &flag, &statuses[0]);
  check(index == 1, "the sum is the one that is complete");
  MPI_Request_get_status_some(3, requests, &count, indices, statuses);
  check(count == 1 && indices[0] == 1, "it is the only one");
  MPI_Request_get_status_all(3, requests, &flag, statuses);
  check(!flag, "not all are complete");
  MPI_Send(&sent, 1, MPI_INT, world.rank, 8, MPI_COMM_WORLD);
  for (flag = 0; !flag;)
    MPI_Request_get_status_all(3, requests, &flag, statuses);
  check(statuses[0].MPI_SOURCE == world.rank && statuses[0].MPI_TAG == 8, "the message's status");
  MPI_Request_get_status_some(3, requests, &count, indices, statuses);
  check(count == 2, "two are complete");
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  running.check("the sum");
  MPI_Request_get_status_any(3, requests, &index, &flag, &statuses[0]);
  check(flag && index == MPI_UNDEFINED, "none is active");
  MPI_Request_get_status_some(3, requests, &count, indices, statuses);
  check(count == MPI_UNDEFINED, "nor some");
  MPI_Request_free(&requests[2]);
}
#endif

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  tryHardwareKinds();
#ifdef COLLDSL_MPI_SESSIONS
  trySessions();
#endif
#if MPI_VERSION >= 4
  tryPartitioned();
  tryLargeCounts();
#endif
#ifdef COLLDSL_MPI_STATUS_OF_MANY
  tryStatusOfMany();
#endif
  std::printf("%d checked, %d wrong\n", checked, wrong);
  MPI_Finalize();
  return wrong != 0;
}
