// An MPI that may be given memory of devices, for the calls that DeviceTest makes: it opens that
// memory, as long as it is open the CPU can use it.
#define _GNU_SOURCE
#include "mpi/Mpi.h"

#include <dlfcn.h>

void (*openDevices)(int isOpen);

#define AWARE(name, parameters, arguments)                                                         \
  int name parameters;                                                                             \
  int name parameters {                                                                            \
    int(*below) parameters;                                                                        \
    *(void **)&below = dlsym(RTLD_NEXT, #name);                                                    \
    if (openDevices)                                                                               \
      openDevices(1);                                                                              \
    return below arguments;                                                                        \
  }
#define COMBINED const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define BLOCKS const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype got

AWARE(PMPI_Allreduce, (COMBINED), (in, out, n, type, op, comm))
AWARE(PMPI_Iallreduce, (COMBINED, MPI_Request *request), (in, out, n, type, op, comm, request))
AWARE(PMPI_Bcast, (void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
      (buffer, n, type, root, comm))
AWARE(PMPI_Gather, (BLOCKS, int root, MPI_Comm comm), (in, n, type, out, m, got, root, comm))
AWARE(PMPI_Neighbor_alltoall, (BLOCKS, MPI_Comm comm), (in, n, type, out, m, got, comm))
#ifdef COLLDSL_MPI_PERSISTENT_EXTENSION
AWARE(PMPIX_Allreduce_init, (COMBINED, MPI_Info info, MPI_Request *request),
      (in, out, n, type, op, comm, info, request))
#else
AWARE(PMPI_Allreduce_init, (COMBINED, MPI_Info info, MPI_Request *request),
      (in, out, n, type, op, comm, info, request))
#endif
