/// From the constructors of a datatype to its runs.
#pragma once

#include "mpi/types/Datatype.h"

namespace colldsl::mpi {

/// Asks MPI for the constructors of the type, down to the predefined types; caches nothing and
/// leaves the id 0. Any type but MPI_DATATYPE_NULL.
Result<TypeLayout> flatten(MPI_Datatype type);

/// True if the type lives as long as MPI does and can be remembered by its handle.
Result<bool> isNamed(MPI_Datatype type);

} // namespace colldsl::mpi
