// The collectives of neighbours and of all ranks of a communicator: an entry for each form serves
// the call, or leaves it to the MPI below.
#include "mpi/Serve.h"

using namespace colldsl::mpi;

// For each shape of arguments: the parameters, with counts of type C and displacements of type D,
// and the arguments that are passed on.

#define ARGS_BARRIER(C, D) MPI_Comm comm
#define PASS_BARRIER comm

#define ARGS_BCAST(C, D) void *buf, C count, MPI_Datatype type, int root, MPI_Comm comm
#define PASS_BCAST buf, count, type, root, comm

#define ARGS_ONE(C, D)                                                                             \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, C rcount, MPI_Datatype rtype,        \
      int root, MPI_Comm comm
#define PASS_ONE sbuf, scount, stype, rbuf, rcount, rtype, root, comm

#define ARGS_GATHERV(C, D)                                                                         \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, const C rcounts[],                   \
      const D rdispls[], MPI_Datatype rtype, int root, MPI_Comm comm
#define PASS_GATHERV sbuf, scount, stype, rbuf, rcounts, rdispls, rtype, root, comm

#define ARGS_SCATTERV(C, D)                                                                        \
  const void *sbuf, const C scounts[], const D sdispls[], MPI_Datatype stype, void *rbuf,          \
      C rcount, MPI_Datatype rtype, int root, MPI_Comm comm
#define PASS_SCATTERV sbuf, scounts, sdispls, stype, rbuf, rcount, rtype, root, comm

#define ARGS_ALLGATHER(C, D)                                                                       \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, C rcount, MPI_Datatype rtype,        \
      MPI_Comm comm
#define PASS_ALLGATHER sbuf, scount, stype, rbuf, rcount, rtype, comm

#define ARGS_ALLGATHERV(C, D)                                                                      \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, const C rcounts[],                   \
      const D rdispls[], MPI_Datatype rtype, MPI_Comm comm
#define PASS_ALLGATHERV sbuf, scount, stype, rbuf, rcounts, rdispls, rtype, comm

#define ARGS_ALLTOALLV(C, D)                                                                       \
  const void *sbuf, const C scounts[], const D sdispls[], MPI_Datatype stype, void *rbuf,          \
      const C rcounts[], const D rdispls[], MPI_Datatype rtype, MPI_Comm comm
#define PASS_ALLTOALLV sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm

#define ARGS_ALLTOALLW(C, D)                                                                       \
  const void *sbuf, const C scounts[], const D sdispls[], const MPI_Datatype stypes[], void *rbuf, \
      const C rcounts[], const D rdispls[], const MPI_Datatype rtypes[], MPI_Comm comm
#define PASS_ALLTOALLW sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, comm
#define ARGS_NEIGHBOR_ALLTOALLW(C, D) ARGS_ALLTOALLW(C, MPI_Aint)
#define PASS_NEIGHBOR_ALLTOALLW PASS_ALLTOALLW

#define ARGS_REDUCE(C, D)                                                                          \
  const void *sbuf, void *rbuf, C count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define PASS_REDUCE sbuf, rbuf, count, type, op, root, comm

#define ARGS_COMBINED(C, D)                                                                        \
  const void *sbuf, void *rbuf, C count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define PASS_COMBINED sbuf, rbuf, count, type, op, comm

#define ARGS_REDUCE_SCATTER(C, D)                                                                  \
  const void *sbuf, void *rbuf, const C counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define PASS_REDUCE_SCATTER sbuf, rbuf, counts, type, op, comm

// For each kind the fields of its Call: the sides, the root, the operator.

#define EQUAL_BLOCKS uniform(sbuf, scount, stype), uniform(rbuf, rcount, rtype)
#define SENT_LIST listed(sbuf, scounts, sdispls, stype)
#define RECEIVED_LIST listed(rbuf, rcounts, rdispls, rtype)
#define TYPED_LISTS typed(sbuf, scounts, sdispls, stypes), typed(rbuf, rcounts, rdispls, rtypes)
#define COMBINED_BLOCKS uniform(sbuf, count, type), uniform(rbuf, count, type)

#define CALL_NeighborAllgather same(sbuf, scount, stype), uniform(rbuf, rcount, rtype)
#define CALL_NeighborAllgatherv same(sbuf, scount, stype), RECEIVED_LIST
#define CALL_NeighborAlltoall EQUAL_BLOCKS
#define CALL_NeighborAlltoallv SENT_LIST, RECEIVED_LIST
#define CALL_NeighborAlltoallw TYPED_LISTS
#define CALL_Barrier                                                                               \
  {}, {}
#define CALL_Bcast {}, uniform(buf, count, type), root
#define CALL_Gather EQUAL_BLOCKS, root
#define CALL_Gatherv uniform(sbuf, scount, stype), RECEIVED_LIST, root
#define CALL_Scatter EQUAL_BLOCKS, root
#define CALL_Scatterv SENT_LIST, uniform(rbuf, rcount, rtype), root
#define CALL_Allgather EQUAL_BLOCKS
#define CALL_Allgatherv uniform(sbuf, scount, stype), RECEIVED_LIST
#define CALL_Alltoall EQUAL_BLOCKS
#define CALL_Alltoallv SENT_LIST, RECEIVED_LIST
#define CALL_Alltoallw TYPED_LISTS
#define CALL_Reduce COMBINED_BLOCKS, root, op
#define CALL_Allreduce COMBINED_BLOCKS, 0, op
#define CALL_ReduceScatter uniform(sbuf, 0, type), inOrder(rbuf, counts, type), 0, op
#define CALL_ReduceScatterBlock COMBINED_BLOCKS, 0, op
#define CALL_Scan COMBINED_BLOCKS, 0, op
#define CALL_Exscan COMBINED_BLOCKS, 0, op

// The entries.

#define BLOCKING(Kind, name, C, D, shape)                                                          \
  COLLDSL_ENTRY(name, (ARGS_##shape(C, D))) {                                                      \
    int code = MPI_SUCCESS;                                                                        \
    if (serveAgain(comm, {CallKind::Kind, CALL_##Kind}, code) ||                                   \
        (!passesOnAgain(comm, {CallKind::Kind, CALL_##Kind}) &&                                    \
         serve(comm, {CallKind::Kind, CALL_##Kind}, code)))                                        \
      return code;                                                                                 \
    return callBelow(real::name, PASS_##shape);                                                    \
  }

#define NONBLOCKING(Kind, name, C, D, shape)                                                       \
  COLLDSL_ENTRY(name, (ARGS_##shape(C, D), MPI_Request * request)) {                               \
    int code = MPI_SUCCESS;                                                                        \
    if (startAgain(comm, {CallKind::Kind, CALL_##Kind}, request) ||                                \
        serve(comm, {CallKind::Kind, CALL_##Kind}, false, request, code))                          \
      return code;                                                                                 \
    return real::name(PASS_##shape, request);                                                      \
  }

#define PERSISTENT_OF(prefix, Kind, name, C, D, shape)                                             \
  extern "C" __attribute__((visibility("default"), alias(#prefix #name))) int P##prefix##name(     \
      ARGS_##shape(C, D), MPI_Info info, MPI_Request *request);                                    \
  extern "C" __attribute__((visibility("default"))) int prefix##name(                              \
      ARGS_##shape(C, D), MPI_Info info, MPI_Request *request) {                                   \
    int code = MPI_SUCCESS;                                                                        \
    return serve(comm, {CallKind::Kind, CALL_##Kind}, true, request, code)                         \
               ? code                                                                              \
               : callBelow(real::name, PASS_##shape, info, request);                               \
  }
#ifdef COLLDSL_MPI_PERSISTENT_EXTENSION
#define PERSISTENT(...) PERSISTENT_OF(MPIX_, __VA_ARGS__)
#else
#define PERSISTENT(...) PERSISTENT_OF(MPI_, __VA_ARGS__)
#endif

#define COLLDSL_COLLECTIVE_WITHOUT_COUNT(Kind, Name, name, shape, ...)                             \
  BLOCKING(Kind, Name, int, int, shape)                                                            \
  NONBLOCKING(Kind, I##name, int, int, shape)                                                      \
  PERSISTENT(Kind, Name##_init, int, int, shape)

#ifdef COLLDSL_MPI_LARGE_COUNTS
#define COLLDSL_COLLECTIVE(Kind, Name, name, shape, ...)                                           \
  COLLDSL_COLLECTIVE_WITHOUT_COUNT(Kind, Name, name, shape)                                        \
  BLOCKING(Kind, Name##_c, MPI_Count, MPI_Aint, shape)                                             \
  NONBLOCKING(Kind, I##name##_c, MPI_Count, MPI_Aint, shape)                                       \
  PERSISTENT(Kind, Name##_init_c, MPI_Count, MPI_Aint, shape)
#else
#define COLLDSL_COLLECTIVE COLLDSL_COLLECTIVE_WITHOUT_COUNT
#endif
#include "mpi/Collectives.def"
