// A rank with an operation of the MPI's own under way waits in a collective that another rank
// enters only once that operation is complete: the wait must move the MPI.
#include "tests/mpi/Groups.h"
#include "tests/mpi/Pending.h"

namespace conformance {
namespace {

/// How a collective is waited for. Arrays hold its request and those of the pending operation.
enum class Wait {
  Barrier,
  Bcast,
  Allreduce,
  Neighbors,
  IbarrierWait,
  IallreduceWait,
  IneighborWait,
  IbarrierTest,
  IbarrierGetStatus,
  Waitall,
  Waitany,
  Waitsome,
  Testall,
  Testany,
  Testsome
};
constexpr const char *kWaits[] = {"MPI_Barrier",
                                  "MPI_Bcast",
                                  "MPI_Allreduce",
                                  "MPI_Neighbor_alltoall",
                                  "MPI_Ibarrier, MPI_Wait",
                                  "MPI_Iallreduce, MPI_Wait",
                                  "MPI_Ineighbor_alltoall, MPI_Wait",
                                  "MPI_Ibarrier, MPI_Test",
                                  "MPI_Ibarrier, MPI_Request_get_status",
                                  "MPI_Ibarrier, MPI_Waitall",
                                  "MPI_Ibarrier, MPI_Waitany",
                                  "MPI_Ibarrier, MPI_Waitsome",
                                  "MPI_Ibarrier, MPI_Testall",
                                  "MPI_Ibarrier, MPI_Testany",
                                  "MPI_Ibarrier, MPI_Testsome"};
constexpr int kNumWaits = static_cast<int>(std::size(kWaits));

constexpr int kCounts[] = {2, 1000, 16 << 10, 300 << 10};

/// Every rank is a neighbour of every rank, so that no rank is done before all have come.
MPI_Comm makeFullGraph(int size) {
  std::vector<int> all;
  for (int r = 0; r < size; ++r)
    all.push_back(r);
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, all.data(), MPI_UNWEIGHTED, size, all.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

/// Room for the values that the collective moves.
struct Values {
  int one = 1, sum = 0, root = 7;
  std::vector<int> sent, got;
  explicit Values(int size) : sent(size, 3), got(size) {}
};

/// Completes an array in which requests may be complete already.
void finishAll(std::vector<MPI_Request> &requests, Wait wait) {
  int count = static_cast<int>(requests.size()), isDone = 0, index = 0, numDone = 0;
  std::vector<int> indices(requests.size());
  switch (wait) {
  case Wait::Waitall:
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    return;
  case Wait::Testall:
    while (!isDone)
      MPI_Testall(count, requests.data(), &isDone, MPI_STATUSES_IGNORE);
    return;
  case Wait::Waitany:
    while (index != MPI_UNDEFINED)
      MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
    return;
  case Wait::Testany:
    while (!isDone || index != MPI_UNDEFINED)
      MPI_Testany(count, requests.data(), &index, &isDone, MPI_STATUS_IGNORE);
    return;
  case Wait::Waitsome:
    while (numDone != MPI_UNDEFINED)
      MPI_Waitsome(count, requests.data(), &numDone, indices.data(), MPI_STATUSES_IGNORE);
    return;
  default:
    while (numDone != MPI_UNDEFINED)
      MPI_Testsome(count, requests.data(), &numDone, indices.data(), MPI_STATUSES_IGNORE);
  }
}

/// Starts the collective; a blocking one is over then, and has no request.
MPI_Request start(Wait wait, int root, MPI_Comm graph, Values &v) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (wait) {
  case Wait::Barrier:
    MPI_Barrier(MPI_COMM_WORLD);
    return request;
  case Wait::Bcast:
    MPI_Bcast(&v.root, 1, MPI_INT, root, MPI_COMM_WORLD);
    return request;
  case Wait::Allreduce:
    MPI_Allreduce(&v.one, &v.sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return request;
  case Wait::Neighbors:
    MPI_Neighbor_alltoall(v.sent.data(), 1, MPI_INT, v.got.data(), 1, MPI_INT, graph);
    return request;
  case Wait::IallreduceWait:
    MPI_Iallreduce(&v.one, &v.sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    return request;
  case Wait::IneighborWait:
    MPI_Ineighbor_alltoall(v.sent.data(), 1, MPI_INT, v.got.data(), 1, MPI_INT, graph, &request);
    return request;
  default:
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return request;
  }
}

void finish(Wait wait, MPI_Request request, std::vector<MPI_Request> &pending) {
  int isDone = 0;
  switch (wait) {
  case Wait::IbarrierTest:
    while (!isDone)
      MPI_Test(&request, &isDone, MPI_STATUS_IGNORE);
    break;
  case Wait::IbarrierGetStatus:
    while (!isDone)
      MPI_Request_get_status(request, &isDone, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    break;
  case Wait::Waitall:
  case Wait::Waitany:
  case Wait::Waitsome:
  case Wait::Testall:
  case Wait::Testany:
  case Wait::Testsome:
    pending.insert(pending.begin() + static_cast<long>(pending.size() / 2), request);
    return finishAll(pending, wait);
  default:
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(static_cast<int>(pending.size()), pending.data(), MPI_STATUSES_IGNORE);
}

void runWait(Wait wait, PendingKind kind, Pending::Roles roles, int count, MPI_Comm graph, int size,
             Report &report) {
  report.doing(kWaits[static_cast<int>(wait)]);
  std::unique_ptr<Pending> pending = Pending::make(kind, roles, count);
  Values values(size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (roles.isOrigin)
    pending->begin();
  else if (roles.isPartner)
    pending->answer();
  else
    pending->stand();
  MPI_Request request = start(wait, roles.partner, graph, values);
  finish(wait, request, pending->requests());
  if (roles.isOrigin || roles.isPartner)
    pending->check(report);
}

// A single rank has no other one to wait for.
template <PendingKind kind> bool runKind(Case &c) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || !has(kind))
    return false;
  MPI_Comm graph = makeFullGraph(size);
  for (int wait = 0; wait < kNumWaits; ++wait) {
    int origin = c.shared.between(0, size - 1);
    int partner = (origin + c.shared.between(1, size - 1)) % size;
    int count = kCounts[c.shared.below(std::size(kCounts))];
    runWait(static_cast<Wait>(wait), kind, {origin, partner, rank == origin, rank == partner},
            count, graph, size, c.report);
  }
  MPI_Comm_free(&graph);
  return true;
}

} // namespace

const char kSubject[] =
    "collectives in which a rank waits while operations of the MPI's own need it "
    "with what\nMPI asks of such a wait";

const std::vector<Group> &groups() {
  using enum PendingKind;
  static const std::vector<Group> all = {
      {"isend", "a message that is sent", runKind<Isend>},
      {"issend", "one that waits for its receiver", runKind<Issend>},
      {"ibsend", "one out of a buffer of the program", runKind<Ibsend>},
      {"irecv", "a message that is received", runKind<Irecv>},
      {"irecv-ssend", "one whose sender waits", runKind<IrecvOfSsend>},
      {"persistent", "a persistent send", runKind<Persistent>},
      {"partitioned", "a partitioned send, where the MPI has it", runKind<Partitioned>},
      {"intercomm", "a message on an intercommunicator", runKind<Intercommunicator>},
      {"collective", "a nonblocking collective of an intercommunicator", runKind<Collective>},
      {"idup", "a duplicate that is being made", runKind<Duplicate>},
      {"one-sided", "puts, gets and accumulates by another rank", runKind<OneSided>},
  };
  return all;
}

} // namespace conformance
