/// Agreements and texts of ranks, by collectives of the MPI below that yield the core while they
/// wait: the MPIs poll, which takes a time slice per message where ranks share cores.
#pragma once

#include "mpi/Mpi.h"

#include <cstdint>
#include <string>

namespace colldsl::mpi {

int bcast(void *data, int bytes, MPI_Comm comm); ///< from rank 0
int allgather(const void *mine, void *all, int bytes, MPI_Comm comm);
int allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/// Collective over the communicator: true if `word` is true on all ranks.
bool allAgree(MPI_Comm comm, bool word);

/// Collective over MPI_COMM_WORLD: true if all ranks have this value.
bool allHave(uint64_t value);

/// Collective over MPI_COMM_WORLD: at rank 0 the texts of all ranks, one behind the other in the
/// order of the ranks; elsewhere empty.
std::string gatherTexts(const std::string &mine);

} // namespace colldsl::mpi
