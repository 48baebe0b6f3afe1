/// The command `colldsl tune --mpi`.
#pragma once

#include "tools/tune/Tuner.h"

namespace colldsl::tools {

/// `launcher`: "mpirun" and words behind it; empty: the mpirun in PATH. `output`: empty for the
/// usual file of that MPI.
Status tuneMpi(TuneOptions options, std::vector<std::string> launcher, const std::string &output);

} // namespace colldsl::tools
