/// Gathers a text of each rank at rank 0.
#pragma once

#include <string>

namespace colldsl::mpi {

/// Collective over MPI_COMM_WORLD: at rank 0 the texts of all ranks, one behind the other in the
/// order of the ranks; elsewhere empty.
std::string gatherTexts(const std::string &mine);

} // namespace colldsl::mpi
