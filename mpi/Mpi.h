/// The MPI that this build is for, and what it has beyond MPI 3.1.
#pragma once

#include <mpi.h>

/// MPI 4: counts of type MPI_Count, functions whose names end in _c.
#if MPI_VERSION >= 4
#define COLLDSL_MPI_LARGE_COUNTS 1
#endif
