// Blocking collectives, on a communicator that is served and on an intercommunicator, which is not;
// and persistent ones that are made, started and completed.
#include "tests/mpi/InCalls.h"

namespace in_calls {
namespace {

Bed &bed = Bed::get();

// Some ints for each rank.
constexpr int kInts = 3;

int *sent() { return bed.sent.data(); }
int *got() { return bed.got.data(); }

/// Lists with the same block for each rank.
struct Lists {
  std::vector<int> counts, places, bytes;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  explicit Lists(const Turn &t) {
    for (int r = 0; r < t.ranks; ++r) {
      counts.push_back(kInts);
      places.push_back(kInts * r);
      bytes.push_back(static_cast<int>(sizeof(int)) * kInts * r);
      addresses.push_back(bytes.back());
      types.push_back(MPI_INT);
    }
  }
};

/// Of a rooted collective on the intercommunicator: where the early rank waits for the other side.
int rootOn(const Turn &t, MPI_Comm comm, int root) {
  if (comm != bed.inter)
    return root;
  if (t.rank % 2 != root % 2)
    return root / 2;
  return t.rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

void runOnce(MPI_Request request) {
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

// name: of the function; ...: its arguments with `comm`, and `root`, which the early rank waits
// for.
#define COLLECTIVE(name, atRoot, ...)                                                              \
  {#name,                                                                                          \
   [](const Turn &t) {                                                                             \
     Lists l(t);                                                                                   \
     for (MPI_Comm comm : {bed.comm, bed.inter}) {                                                 \
       int root = rootOn(t, comm, atRoot);                                                         \
       (void)root;                                                                                 \
       MPI_##name(__VA_ARGS__);                                                                    \
     }                                                                                             \
   }},                                                                                             \
  {                                                                                                \
#name "_init", [](const Turn &t) {                                                             \
      Lists l(t);                                                                                  \
      MPI_Comm comm = bed.comm;                                                                    \
      int root = atRoot;                                                                           \
      MPI_Request request;                                                                         \
      (void)root;                                                                                  \
      COLLDSL_MPI_PERSISTENT(name##_init)(__VA_ARGS__, MPI_INFO_NULL, &request);                   \
      runOnce(request);                                                                            \
    }   \
  }

// Those that have no form for intercommunicators.
#define WITHIN(name, on, ...)                                                                      \
  {#name,                                                                                          \
   [](const Turn &t) {                                                                             \
     Lists l(t);                                                                                   \
     MPI_Comm comm = on;                                                                           \
     MPI_##name(__VA_ARGS__);                                                                      \
   }},                                                                                             \
  {                                                                                                \
#name "_init", [](const Turn &t) {                                                             \
      Lists l(t);                                                                                  \
      MPI_Comm comm = on;                                                                          \
      MPI_Request request;                                                                         \
      COLLDSL_MPI_PERSISTENT(name##_init)(__VA_ARGS__, MPI_INFO_NULL, &request);                   \
      runOnce(request);                                                                            \
    }   \
  }

const Waiter waiters[] = {
    COLLECTIVE(Barrier, 0, comm),
    COLLECTIVE(Bcast, t.partner, got(), kInts, MPI_INT, root, comm),
    COLLECTIVE(Gather, t.early, sent(), kInts, MPI_INT, got(), kInts, MPI_INT, root, comm),
    COLLECTIVE(Gatherv, t.early, sent(), kInts, MPI_INT, got(), l.counts.data(), l.places.data(),
               MPI_INT, root, comm),
    COLLECTIVE(Scatter, t.partner, sent(), kInts, MPI_INT, got(), kInts, MPI_INT, root, comm),
    COLLECTIVE(Scatterv, t.partner, sent(), l.counts.data(), l.places.data(), MPI_INT, got(), kInts,
               MPI_INT, root, comm),
    COLLECTIVE(Allgather, 0, sent(), kInts, MPI_INT, got(), kInts, MPI_INT, comm),
    COLLECTIVE(Allgatherv, 0, sent(), kInts, MPI_INT, got(), l.counts.data(), l.places.data(),
               MPI_INT, comm),
    COLLECTIVE(Alltoall, 0, sent(), kInts, MPI_INT, got(), kInts, MPI_INT, comm),
    COLLECTIVE(Alltoallv, 0, sent(), l.counts.data(), l.places.data(), MPI_INT, got(),
               l.counts.data(), l.places.data(), MPI_INT, comm),
    COLLECTIVE(Alltoallw, 0, sent(), l.counts.data(), l.bytes.data(), l.types.data(), got(),
               l.counts.data(), l.bytes.data(), l.types.data(), comm),
    COLLECTIVE(Reduce, t.early, sent(), got(), kInts, MPI_INT, MPI_SUM, root, comm),
    COLLECTIVE(Allreduce, 0, sent(), got(), kInts, MPI_INT, MPI_SUM, comm),
    WITHIN(Reduce_scatter, bed.comm, sent(), got(), l.counts.data(), MPI_INT, MPI_SUM, comm),
    WITHIN(Reduce_scatter_block, bed.comm, sent(), got(), kInts, MPI_INT, MPI_SUM, comm),
    WITHIN(Scan, bed.comm, sent(), got(), kInts, MPI_INT, MPI_SUM, comm),
    WITHIN(Exscan, bed.comm, sent(), got(), kInts, MPI_INT, MPI_SUM, comm),
    WITHIN(Neighbor_allgather, bed.graph, sent(), kInts, MPI_INT, got(), kInts, MPI_INT, comm),
    WITHIN(Neighbor_allgatherv, bed.graph, sent(), kInts, MPI_INT, got(), l.counts.data(),
           l.places.data(), MPI_INT, comm),
    WITHIN(Neighbor_alltoall, bed.graph, sent(), kInts, MPI_INT, got(), kInts, MPI_INT, comm),
    WITHIN(Neighbor_alltoallv, bed.graph, sent(), l.counts.data(), l.places.data(), MPI_INT, got(),
           l.counts.data(), l.places.data(), MPI_INT, comm),
    WITHIN(Neighbor_alltoallw, bed.graph, sent(), l.counts.data(), l.addresses.data(),
           l.types.data(), got(), l.counts.data(), l.addresses.data(), l.types.data(), comm),
};

} // namespace

std::span<const Waiter> collectiveWaiters() { return waiters; }

} // namespace in_calls
