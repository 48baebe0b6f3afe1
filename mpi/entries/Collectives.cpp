// The collectives of all ranks of a communicator: blocking, nonblocking, persistent; with counts of
// int and of MPI_Count.
#include "mpi/Serve.h"
#include "mpi/entries/Shapes.h"

using namespace colldsl::mpi;

#define ARGS_BARRIER(C, D) MPI_Comm comm
#define PASS_BARRIER comm
#define CALL_BARRIER                                                                               \
  {                                                                                                \
    CallKind::Barrier, {}, {}                                                                      \
  }

#define ARGS_BCAST(C, D) void *buf, C count, MPI_Datatype type, int root, MPI_Comm comm
#define PASS_BCAST buf, count, type, root, comm
#define CALL_BCAST                                                                                 \
  { CallKind::Bcast, {}, uniform(buf, count, type), root }

#define ARGS_ONE(C, D)                                                                             \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, C rcount, MPI_Datatype rtype,        \
      int root, MPI_Comm comm
#define PASS_ONE sbuf, scount, stype, rbuf, rcount, rtype, root, comm
#define CALL_ONE(kind)                                                                             \
  { CallKind::kind, uniform(sbuf, scount, stype), uniform(rbuf, rcount, rtype), root }
#define ARGS_GATHER(C, D) ARGS_ONE(C, D)
#define PASS_GATHER PASS_ONE
#define CALL_GATHER CALL_ONE(Gather)
#define ARGS_SCATTER(C, D) ARGS_ONE(C, D)
#define PASS_SCATTER PASS_ONE
#define CALL_SCATTER CALL_ONE(Scatter)

#define ARGS_GATHERV(C, D)                                                                         \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, const C rcounts[],                   \
      const D rdispls[], MPI_Datatype rtype, int root, MPI_Comm comm
#define PASS_GATHERV sbuf, scount, stype, rbuf, rcounts, rdispls, rtype, root, comm
#define CALL_GATHERV                                                                               \
  { CallKind::Gatherv, uniform(sbuf, scount, stype), listed(rbuf, rcounts, rdispls, rtype), root }

#define ARGS_SCATTERV(C, D)                                                                        \
  const void *sbuf, const C scounts[], const D sdispls[], MPI_Datatype stype, void *rbuf,          \
      C rcount, MPI_Datatype rtype, int root, MPI_Comm comm
#define PASS_SCATTERV sbuf, scounts, sdispls, stype, rbuf, rcount, rtype, root, comm
#define CALL_SCATTERV                                                                              \
  { CallKind::Scatterv, listed(sbuf, scounts, sdispls, stype), uniform(rbuf, rcount, rtype), root }

#define CALL_EQUAL(kind)                                                                           \
  { CallKind::kind, uniform(sbuf, scount, stype), uniform(rbuf, rcount, rtype) }
#define CALL_ALLGATHER CALL_EQUAL(Allgather)
#define CALL_ALLTOALL CALL_EQUAL(Alltoall)

#define CALL_ALLGATHERV                                                                            \
  { CallKind::Allgatherv, uniform(sbuf, scount, stype), listed(rbuf, rcounts, rdispls, rtype) }

#define CALL_ALLTOALLV                                                                             \
  {                                                                                                \
    CallKind::Alltoallv, listed(sbuf, scounts, sdispls, stype),                                    \
        listed(rbuf, rcounts, rdispls, rtype)                                                      \
  }

#define ARGS_ALLTOALLW(C, D)                                                                       \
  const void *sbuf, const C scounts[], const D sdispls[], const MPI_Datatype stypes[], void *rbuf, \
      const C rcounts[], const D rdispls[], const MPI_Datatype rtypes[], MPI_Comm comm
#define CALL_ALLTOALLW                                                                             \
  {                                                                                                \
    CallKind::Alltoallw, typed(sbuf, scounts, sdispls, stypes),                                    \
        typed(rbuf, rcounts, rdispls, rtypes)                                                      \
  }

#define ARGS_REDUCE(C, D)                                                                          \
  const void *sbuf, void *rbuf, C count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define PASS_REDUCE sbuf, rbuf, count, type, op, root, comm
#define CALL_REDUCE                                                                                \
  { CallKind::Reduce, uniform(sbuf, count, type), uniform(rbuf, count, type), root, op }

#define ARGS_COMBINED(C, D)                                                                        \
  const void *sbuf, void *rbuf, C count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define PASS_COMBINED sbuf, rbuf, count, type, op, comm
#define CALL_COMBINED(kind)                                                                        \
  { CallKind::kind, uniform(sbuf, count, type), uniform(rbuf, count, type), 0, op }
#define ARGS_ALLREDUCE(C, D) ARGS_COMBINED(C, D)
#define PASS_ALLREDUCE PASS_COMBINED
#define CALL_ALLREDUCE CALL_COMBINED(Allreduce)
#define ARGS_SCAN(C, D) ARGS_COMBINED(C, D)
#define PASS_SCAN PASS_COMBINED
#define CALL_SCAN CALL_COMBINED(Scan)
#define ARGS_EXSCAN(C, D) ARGS_COMBINED(C, D)
#define PASS_EXSCAN PASS_COMBINED
#define CALL_EXSCAN CALL_COMBINED(Exscan)
#define ARGS_REDUCE_SCATTER_BLOCK(C, D) ARGS_COMBINED(C, D)
#define PASS_REDUCE_SCATTER_BLOCK PASS_COMBINED
#define CALL_REDUCE_SCATTER_BLOCK CALL_COMBINED(ReduceScatterBlock)

#define ARGS_REDUCE_SCATTER(C, D)                                                                  \
  const void *sbuf, void *rbuf, const C counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define PASS_REDUCE_SCATTER sbuf, rbuf, counts, type, op, comm
#define CALL_REDUCE_SCATTER                                                                        \
  { CallKind::ReduceScatter, uniform(sbuf, 0, type), inOrder(rbuf, counts, type), 0, op }

COLLDSL_BLOCKING(Barrier, int, int, BARRIER)
COLLDSL_NONBLOCKING(Ibarrier, int, int, BARRIER)
COLLDSL_PERSISTENT(Barrier_init, int, int, BARRIER)

#define ALL_OPERATIONS(MODE, suffix, C, D)                                                         \
  MODE(Bcast, bcast, suffix, C, D, BCAST)                                                          \
  MODE(Gather, gather, suffix, C, D, GATHER)                                                       \
  MODE(Gatherv, gatherv, suffix, C, D, GATHERV)                                                    \
  MODE(Scatter, scatter, suffix, C, D, SCATTER)                                                    \
  MODE(Scatterv, scatterv, suffix, C, D, SCATTERV)                                                 \
  MODE(Allgather, allgather, suffix, C, D, ALLGATHER)                                              \
  MODE(Allgatherv, allgatherv, suffix, C, D, ALLGATHERV)                                           \
  MODE(Alltoall, alltoall, suffix, C, D, ALLTOALL)                                                 \
  MODE(Alltoallv, alltoallv, suffix, C, D, ALLTOALLV)                                              \
  MODE(Alltoallw, alltoallw, suffix, C, D, ALLTOALLW)                                              \
  MODE(Reduce, reduce, suffix, C, D, REDUCE)                                                       \
  MODE(Allreduce, allreduce, suffix, C, D, ALLREDUCE)                                              \
  MODE(Reduce_scatter, reduce_scatter, suffix, C, D, REDUCE_SCATTER)                               \
  MODE(Reduce_scatter_block, reduce_scatter_block, suffix, C, D, REDUCE_SCATTER_BLOCK)             \
  MODE(Scan, scan, suffix, C, D, SCAN)                                                             \
  MODE(Exscan, exscan, suffix, C, D, EXSCAN)

// `suffix` is _c for counts of MPI_Count, or nothing.
#define BLOCKING(name, lower, suffix, C, D, shape) COLLDSL_BLOCKING(name##suffix, C, D, shape)
#define NONBLOCKING(name, lower, suffix, C, D, shape)                                              \
  COLLDSL_NONBLOCKING(I##lower##suffix, C, D, shape)

#define PERSISTENT(name, lower, suffix, C, D, shape)                                               \
  COLLDSL_PERSISTENT(name##_init##suffix, C, D, shape)

ALL_OPERATIONS(BLOCKING, , int, int)
ALL_OPERATIONS(NONBLOCKING, , int, int)
ALL_OPERATIONS(PERSISTENT, , int, int)
#ifdef COLLDSL_MPI_LARGE_COUNTS
ALL_OPERATIONS(BLOCKING, _c, MPI_Count, MPI_Aint)
ALL_OPERATIONS(NONBLOCKING, _c, MPI_Count, MPI_Aint)
ALL_OPERATIONS(PERSISTENT, _c, MPI_Count, MPI_Aint)
#endif
