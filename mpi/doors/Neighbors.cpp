// The neighbourhood collectives: blocking, nonblocking, persistent; with counts of int and of
// MPI_Count.
#include "mpi/Doors.h"
#include "mpi/Settings.h"
#include "mpi/Summary.h"

using namespace colldsl::mpi;

namespace {

using colldsl::Result;
using colldsl::Status;

/// Counts what the MPI below must do; false.
bool passOn(const Call &call) {
  Summary::all().passedOn(call.kind);
  return false;
}

/// For a blocking call: also one that came to be without our seeing it.
ServedComm *knownOrAdopted(Job &job, MPI_Comm comm) {
  ServedComm *served = ServedComm::of(comm);
  int topology = MPI_UNDEFINED;
  if (served || real::Topo_test(comm, &topology) != MPI_SUCCESS || topology == MPI_UNDEFINED)
    return served;
  return ServedComm::adopt(job, comm);
}

/// A whole run. The caller holds a Guard.
Status runOnce(ServedComm &served, Operation &operation) {
  Summary::all().served(operation.kind(), operation.sentBytes());
  return operation.run(served.nextRun());
}

/// A whole run; false: it cannot be prepared.
bool run(Job &job, ServedComm &served, const Call &call, Status &outcome) {
  Guard guard(job);
  Result<std::shared_ptr<Operation>> operation = served.operationFor(call);
  if (!operation)
    return false;
  outcome = runOnce(served, **operation);
  return true;
}

/// A run of the operation of the call before; false: one is under way.
bool runAgain(MPI_Comm comm, ServedComm &served, int &code) {
  Operation *operation = nullptr;
  Status outcome = [&] {
    Guard guard(served.job());
    operation = served.again();
    return operation ? runOnce(served, *operation) : Status();
  }();
  code = outcome ? MPI_SUCCESS : raise(comm, outcome);
  return operation != nullptr;
}

/// Serves a blocking call that is the same as the one before; false: it is not. Inlined, so that
/// arguments are compared in registers and no Call is made in memory.
[[gnu::always_inline]] inline bool serveAgain(MPI_Comm comm, const Call &call, int &code) {
  ServedComm *served = ServedComm::before(comm);
  return served && served->isSameAsBefore(call) && runAgain(comm, *served, code);
}

/// Serves a blocking call; false: the MPI below must. What it returns is put into `code`.
bool serve(MPI_Comm comm, const Call &call, int &code) {
  Job *job = Job::current();
  ServedComm *served =
      job && !Settings::all().isOff(call.kind) ? knownOrAdopted(*job, comm) : nullptr;
  if (!served || !served->isServed())
    return passOn(call);
  Status outcome;
  if (!run(*job, *served, call, outcome))
    return passOn(call);
  code = outcome ? MPI_SUCCESS : raise(comm, outcome);
  return true;
}

/// Starts a nonblocking call, or makes a persistent one. Nothing here waits for other ranks, so
/// a communicator that is not known is left to the MPI below, by all its ranks.
bool serve(MPI_Comm comm, const Call &call, bool isPersistent, MPI_Request *request) {
  Job *job = Job::current();
  ServedComm *served = job && !Settings::all().isOff(call.kind) ? ServedComm::of(comm) : nullptr;
  if (!served || !served->isServed())
    return passOn(call);
  Guard guard(*job);
  Result<std::shared_ptr<Operation>> operation =
      isPersistent ? served->makePersistent(call) : served->operationFor(call);
  if (!operation)
    return passOn(call);
  if (isPersistent) {
    *request = Requests::all().persistent(*operation, comm);
    return true;
  }
  Summary::all().served(call.kind, (*operation)->sentBytes());
  (*operation)->start(served->nextRun());
  *request = Requests::all().running(operation.take(), comm);
  return true;
}

Side uniform(const void *buffer, MPI_Count count, MPI_Datatype type) {
  Side side;
  side.buffer = const_cast<void *>(buffer);
  side.count = count;
  side.type = type;
  return side;
}

Side same(const void *buffer, MPI_Count count, MPI_Datatype type) {
  Side side = uniform(buffer, count, type);
  side.isSame = true;
  return side;
}

template <typename Count, typename Displ>
Side listed(const void *buffer, const Count *counts, const Displ *displs, MPI_Datatype type) {
  Side side = uniform(buffer, 0, type);
  side.counts = counts;
  side.displs = displs;
  side.isLarge = sizeof(Count) > sizeof(int);
  return side;
}

template <typename Count>
Side typed(const void *buffer, const Count *counts, const MPI_Aint *displs,
           const MPI_Datatype *types) {
  Side side = listed(buffer, counts, displs, MPI_DATATYPE_NULL);
  side.types = types;
  side.inBytes = true;
  return side;
}

} // namespace

#define ARGS_ALLGATHER(C, D)                                                                       \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, C rcount, MPI_Datatype rtype,        \
      MPI_Comm comm
#define PASS_ALLGATHER sbuf, scount, stype, rbuf, rcount, rtype, comm
#define CALL_ALLGATHER                                                                             \
  { CallKind::Allgather, same(sbuf, scount, stype), uniform(rbuf, rcount, rtype) }

#define ARGS_ALLGATHERV(C, D)                                                                      \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, const C rcounts[],                   \
      const D rdispls[], MPI_Datatype rtype, MPI_Comm comm
#define PASS_ALLGATHERV sbuf, scount, stype, rbuf, rcounts, rdispls, rtype, comm
#define CALL_ALLGATHERV                                                                            \
  { CallKind::Allgatherv, same(sbuf, scount, stype), listed(rbuf, rcounts, rdispls, rtype) }

#define ARGS_ALLTOALL(C, D) ARGS_ALLGATHER(C, D)
#define PASS_ALLTOALL PASS_ALLGATHER
#define CALL_ALLTOALL                                                                              \
  { CallKind::Alltoall, uniform(sbuf, scount, stype), uniform(rbuf, rcount, rtype) }

#define ARGS_ALLTOALLV(C, D)                                                                       \
  const void *sbuf, const C scounts[], const D sdispls[], MPI_Datatype stype, void *rbuf,          \
      const C rcounts[], const D rdispls[], MPI_Datatype rtype, MPI_Comm comm
#define PASS_ALLTOALLV sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm
#define CALL_ALLTOALLV                                                                             \
  {                                                                                                \
    CallKind::Alltoallv, listed(sbuf, scounts, sdispls, stype),                                    \
        listed(rbuf, rcounts, rdispls, rtype)                                                      \
  }

#define ARGS_ALLTOALLW(C, D)                                                                       \
  const void *sbuf, const C scounts[], const MPI_Aint sdispls[], const MPI_Datatype stypes[],      \
      void *rbuf, const C rcounts[], const MPI_Aint rdispls[], const MPI_Datatype rtypes[],        \
      MPI_Comm comm
#define PASS_ALLTOALLW sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, comm
#define CALL_ALLTOALLW                                                                             \
  {                                                                                                \
    CallKind::Alltoallw, typed(sbuf, scounts, sdispls, stypes),                                    \
        typed(rbuf, rcounts, rdispls, rtypes)                                                      \
  }

// One operation in its three modes; `suffix` is _c for counts of MPI_Count, or nothing.
#define BLOCKING(name, suffix, C, D, shape)                                                        \
  COLLDSL_DOOR(Neighbor_##name##suffix, (ARGS_##shape(C, D))) {                                    \
    int code = MPI_SUCCESS;                                                                        \
    if (serveAgain(comm, CALL_##shape, code))                                                      \
      return code;                                                                                 \
    return serve(comm, CALL_##shape, code) ? code : real::Neighbor_##name##suffix(PASS_##shape);   \
  }
#define NONBLOCKING(name, suffix, C, D, shape)                                                     \
  COLLDSL_DOOR(Ineighbor_##name##suffix, (ARGS_##shape(C, D), MPI_Request * request)) {            \
    return serve(comm, CALL_##shape, false, request)                                               \
               ? MPI_SUCCESS                                                                       \
               : real::Ineighbor_##name##suffix(PASS_##shape, request);                            \
  }
#define PERSISTENT(prefix, name, suffix, C, D, shape)                                              \
  extern "C"                                                                                       \
      __attribute__((visibility("default"), alias(#prefix "Neighbor_" #name "_init" #suffix))) int \
          P##prefix##Neighbor_##name##_init##suffix(ARGS_##shape(C, D), MPI_Info info,             \
                                                    MPI_Request *request);                         \
  extern "C" __attribute__((visibility("default"))) int prefix##Neighbor_##name##_init##suffix(    \
      ARGS_##shape(C, D), MPI_Info info, MPI_Request *request) {                                   \
    return serve(comm, CALL_##shape, true, request)                                                \
               ? MPI_SUCCESS                                                                       \
               : real::Neighbor_##name##_init##suffix(PASS_##shape, info, request);                \
  }

#define ALL_OPERATIONS(MODE, suffix, C, D)                                                         \
  MODE(allgather, suffix, C, D, ALLGATHER)                                                         \
  MODE(allgatherv, suffix, C, D, ALLGATHERV)                                                       \
  MODE(alltoall, suffix, C, D, ALLTOALL)                                                           \
  MODE(alltoallv, suffix, C, D, ALLTOALLV)                                                         \
  MODE(alltoallw, suffix, C, D, ALLTOALLW)

ALL_OPERATIONS(BLOCKING, , int, int)
ALL_OPERATIONS(NONBLOCKING, , int, int)
#ifdef COLLDSL_MPI_PERSISTENT_EXTENSION
#define PERSISTENT_HERE(...) PERSISTENT(MPIX_, __VA_ARGS__)
#else
#define PERSISTENT_HERE(...) PERSISTENT(MPI_, __VA_ARGS__)
#endif
ALL_OPERATIONS(PERSISTENT_HERE, , int, int)
#ifdef COLLDSL_MPI_LARGE_COUNTS
ALL_OPERATIONS(BLOCKING, _c, MPI_Count, MPI_Aint)
ALL_OPERATIONS(NONBLOCKING, _c, MPI_Count, MPI_Aint)
ALL_OPERATIONS(PERSISTENT_HERE, _c, MPI_Count, MPI_Aint)
#endif
