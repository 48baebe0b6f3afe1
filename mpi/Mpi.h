/// The MPI that this build is for, and what it has beyond MPI 3.1.
#pragma once

#include <mpi.h>

/// Persistent collectives under names of their own.
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define COLLDSL_MPI_PERSISTENT_EXTENSION 1
#endif

/// MPI 4: counts of type MPI_Count, functions whose names end in _c, and more.
#if MPI_VERSION >= 4
#define COLLDSL_MPI_LARGE_COUNTS 1
#define COLLDSL_MPI_IDUP_WITH_INFO 1
#endif
