// Memory that the program allocates from the MPI: the receiver copies messages in it once.
#include "mpi/EntryPoints.h"

using namespace colldsl::mpi;

COLLDSL_ENTRY(Alloc_mem, (MPI_Aint size, MPI_Info info, void *address)) {
  Job *job = Job::current();
  if (job && size > 0 && address) {
    Guard guard(*job);
    if (void *memory = job->lend(static_cast<uint64_t>(size))) {
      *static_cast<void **>(address) = memory;
      return MPI_SUCCESS;
    }
  }
  return real::Alloc_mem(size, info, address);
}

COLLDSL_ENTRY(Free_mem, (void *memory)) {
  Job *job = Job::current();
  if (!job || !job->worker().owns(memory))
    return real::Free_mem(memory);
  Guard guard(*job);
  job->worker().release(memory);
  return MPI_SUCCESS;
}
