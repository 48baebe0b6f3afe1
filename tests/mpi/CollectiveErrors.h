/// Calls with arguments that no MPI may take.
#pragma once

#include "tests/mpi/Groups.h"

namespace conformance {

/// One wrong call, made by all ranks: its error class is what MPI calls it, whether the call
/// returns it or an error handler of the program is told first.
bool runErrors(Case &c);

} // namespace conformance
