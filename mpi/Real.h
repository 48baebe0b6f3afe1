/// The MPI below: what a program's call would have reached without us. `real::Allreduce(...)` is
/// PMPI_Allreduce of the MPI library, or its MPI_Allreduce where it has no other name, never an
/// entry of ours, and it goes around tools that wrap MPI_Allreduce.
#pragma once

#include "ir/Result.h"
#include "mpi/Mpi.h"

namespace colldsl::mpi {

/// Found when this library is loaded. One that the MPI lacks although its header declares it ends
/// the program when it is called, with a line that names it.
namespace real {
#define COLLDSL_REAL(name) extern const decltype(&MPI_##name) name;
#define COLLDSL_REAL_EXTENSION(name) extern const decltype(&MPIX_##name) name;
#include "mpi/Real.def"
} // namespace real

/// What such a call returned, as a value: "MPI_Type_size: MPI_ERR_TYPE: invalid datatype".
Status mpiStatus(int code, const char *function);

} // namespace colldsl::mpi
