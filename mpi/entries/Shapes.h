/// Arguments that collectives of neighbours and of all ranks share: for each shape its parameters,
/// with counts of type C and displacements of type D, and the arguments that are passed on.
#pragma once

#define ARGS_ALLGATHER(C, D)                                                                       \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, C rcount, MPI_Datatype rtype,        \
      MPI_Comm comm
#define PASS_ALLGATHER sbuf, scount, stype, rbuf, rcount, rtype, comm
#define ARGS_ALLGATHERV(C, D)                                                                      \
  const void *sbuf, C scount, MPI_Datatype stype, void *rbuf, const C rcounts[],                   \
      const D rdispls[], MPI_Datatype rtype, MPI_Comm comm
#define PASS_ALLGATHERV sbuf, scount, stype, rbuf, rcounts, rdispls, rtype, comm
#define ARGS_ALLTOALL(C, D) ARGS_ALLGATHER(C, D)
#define PASS_ALLTOALL PASS_ALLGATHER
#define ARGS_ALLTOALLV(C, D)                                                                       \
  const void *sbuf, const C scounts[], const D sdispls[], MPI_Datatype stype, void *rbuf,          \
      const C rcounts[], const D rdispls[], MPI_Datatype rtype, MPI_Comm comm
#define PASS_ALLTOALLV sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm
#define PASS_ALLTOALLW sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes, comm
