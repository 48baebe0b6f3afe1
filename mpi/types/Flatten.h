/// From the constructors of a datatype to its runs.
#pragma once

#include "mpi/types/Datatype.h"

namespace colldsl::mpi {

/// Asks MPI for the constructors of the type, down to types that are known; caches nothing and
/// leaves the id 0. Any type but MPI_DATATYPE_NULL. `isNamed` of the result: the type lives as long
/// as MPI does and can be remembered by its handle.
Result<TypeLayout> flatten(MPI_Datatype type);

/// For flatten(): the layout of a type of which another one is made. It is remembered if it is
/// named.
Result<SharedLayout> elementOf(MPI_Datatype type);

} // namespace colldsl::mpi
