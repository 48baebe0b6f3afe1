/// From the constructors of a datatype to its runs.
#pragma once

#include "mpi/types/Datatype.h"

namespace colldsl::mpi {

/// Asks MPI what the type was made of, down to the predefined types; nothing is cached, and the id
/// is left 0. Any type but MPI_DATATYPE_NULL.
Result<TypeLayout> flatten(MPI_Datatype type);

/// Whether the type lives as long as MPI does and can be remembered by its handle.
Result<bool> isNamed(MPI_Datatype type);

} // namespace colldsl::mpi
