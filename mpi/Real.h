/// The MPI below: the library that a program's call would reach without the backend.
/// `real::Allreduce(...)` is PMPI_Allreduce of the MPI library, or its MPI_Allreduce if it has no
/// other name. It is never an entry of the backend, and it bypasses tools that wrap MPI_Allreduce.
#pragma once

#include "ir/Result.h"
#include "mpi/Mpi.h"

namespace colldsl::mpi {

/// Functions that are found when this library is loaded. A call of one that the MPI declares but
/// lacks ends the program, with a line that names it.
namespace real {
#define COLLDSL_REAL(name) [[gnu::visibility("hidden")]] extern const decltype(&MPI_##name) name;
#define COLLDSL_REAL_EXTENSION(name)                                                               \
  [[gnu::visibility("hidden")]] extern const decltype(&MPIX_##name) name;
#include "mpi/Real.def"
} // namespace real

/// Returns the code of such a call as a value: "MPI_Type_size: MPI_ERR_TYPE: invalid datatype".
Status mpiStatus(int code, const char *function);

} // namespace colldsl::mpi
