/// Why this job serves nothing, until the summary prints it.
#pragma once

#include <string>

namespace colldsl::mpi {

/// Of this rank; another one may have the reason.
void noteUnserved(const std::string &reason);

/// Collective over MPI_COMM_WORLD: rank 0 prints the reason of the first rank that has one.
void printUnserved();

} // namespace colldsl::mpi
