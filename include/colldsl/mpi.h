/** Communicators of MPI programs: an MPI communicator provides the bootstrap of
 * colldsl_comm_create(), and its ranks become those of the colldsl_comm. C and C++; needs the MPI's
 * own header.
 */
#ifndef COLLDSL_MPI_H
#define COLLDSL_MPI_H

#include "colldsl/colldsl.h"

#include <limits.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** For colldsl_bootstrap; `user` points to an MPI_Comm. */
static inline int colldsl_mpi_allgather(const void *mine, void *all, size_t bytes, void *user) {
  if (bytes > INT_MAX)
    return MPI_ERR_COUNT;
  return MPI_Allgather((void *)mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                       *(MPI_Comm *)user);
}

/** For colldsl_bootstrap; `user` points to an MPI_Comm. */
static inline int colldsl_mpi_barrier(void *user) { return MPI_Barrier(*(MPI_Comm *)user); }

/** Collective over `mpi`, an intracommunicator, which is used during the call only. */
static inline colldsl_status colldsl_comm_create_from_mpi(colldsl_context *context, MPI_Comm mpi,
                                                          colldsl_comm **comm) {
  int rank = 0, size = 1;
  colldsl_bootstrap bootstrap;
  MPI_Comm_rank(mpi, &rank);
  MPI_Comm_size(mpi, &size);
  bootstrap.rank = (uint32_t)rank;
  bootstrap.size = (uint32_t)size;
  bootstrap.allgather = colldsl_mpi_allgather;
  bootstrap.barrier = colldsl_mpi_barrier;
  bootstrap.user = &mpi;
  return colldsl_comm_create(context, &bootstrap, comm);
}

#ifdef __cplusplus
}
#endif

#endif
