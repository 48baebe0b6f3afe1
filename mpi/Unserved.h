/// The reason why this job serves nothing, kept until the summary prints it.
#pragma once

#include <string>

namespace colldsl::mpi {

/// Keeps the reason of this rank; other ranks may have none, or another one.
void noteUnserved(const std::string &reason);

/// Collective over MPI_COMM_WORLD: rank 0 prints the reason of the first rank that has one.
void printUnserved();

} // namespace colldsl::mpi
