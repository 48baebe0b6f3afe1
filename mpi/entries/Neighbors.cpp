// The neighbourhood collectives: blocking, nonblocking, persistent; with counts of int and of
// MPI_Count.
#include "mpi/Serve.h"
#include "mpi/entries/Shapes.h"

using namespace colldsl::mpi;

#define CALL_ALLGATHER                                                                             \
  { CallKind::NeighborAllgather, same(sbuf, scount, stype), uniform(rbuf, rcount, rtype) }

#define CALL_ALLGATHERV                                                                            \
  { CallKind::NeighborAllgatherv, same(sbuf, scount, stype), listed(rbuf, rcounts, rdispls, rtype) }

#define CALL_ALLTOALL                                                                              \
  { CallKind::NeighborAlltoall, uniform(sbuf, scount, stype), uniform(rbuf, rcount, rtype) }

#define CALL_ALLTOALLV                                                                             \
  {                                                                                                \
    CallKind::NeighborAlltoallv, listed(sbuf, scounts, sdispls, stype),                            \
        listed(rbuf, rcounts, rdispls, rtype)                                                      \
  }

#define ARGS_ALLTOALLW(C, D)                                                                       \
  const void *sbuf, const C scounts[], const MPI_Aint sdispls[], const MPI_Datatype stypes[],      \
      void *rbuf, const C rcounts[], const MPI_Aint rdispls[], const MPI_Datatype rtypes[],        \
      MPI_Comm comm
#define CALL_ALLTOALLW                                                                             \
  {                                                                                                \
    CallKind::NeighborAlltoallw, typed(sbuf, scounts, sdispls, stypes),                            \
        typed(rbuf, rcounts, rdispls, rtypes)                                                      \
  }

// One operation in its three modes; `suffix` is _c for counts of MPI_Count, or nothing.
#define BLOCKING(name, suffix, C, D, shape) COLLDSL_BLOCKING(Neighbor_##name##suffix, C, D, shape)
#define NONBLOCKING(name, suffix, C, D, shape)                                                     \
  COLLDSL_NONBLOCKING(Ineighbor_##name##suffix, C, D, shape)
#define PERSISTENT(name, suffix, C, D, shape)                                                      \
  COLLDSL_PERSISTENT(Neighbor_##name##_init##suffix, C, D, shape)

#define ALL_OPERATIONS(MODE, suffix, C, D)                                                         \
  MODE(allgather, suffix, C, D, ALLGATHER)                                                         \
  MODE(allgatherv, suffix, C, D, ALLGATHERV)                                                       \
  MODE(alltoall, suffix, C, D, ALLTOALL)                                                           \
  MODE(alltoallv, suffix, C, D, ALLTOALLV)                                                         \
  MODE(alltoallw, suffix, C, D, ALLTOALLW)

ALL_OPERATIONS(BLOCKING, , int, int)
ALL_OPERATIONS(NONBLOCKING, , int, int)
ALL_OPERATIONS(PERSISTENT, , int, int)
#ifdef COLLDSL_MPI_LARGE_COUNTS
ALL_OPERATIONS(BLOCKING, _c, MPI_Count, MPI_Aint)
ALL_OPERATIONS(NONBLOCKING, _c, MPI_Count, MPI_Aint)
ALL_OPERATIONS(PERSISTENT, _c, MPI_Count, MPI_Aint)
#endif
