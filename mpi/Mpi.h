/// The MPI that this build is for, and what it has beyond MPI 3.1. Plain C too.
#pragma once

#include <mpi.h>

/// Persistent collectives: an extension with names of its own (MPIX_) before Open MPI 5.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define COLLDSL_MPI_PERSISTENT_EXTENSION 1
#define COLLDSL_MPI_PERSISTENT(name) MPIX_##name
#else
#define COLLDSL_MPI_PERSISTENT(name) MPI_##name
#endif

/// MPI 4: counts of type MPI_Count, functions whose names end in _c, and more. Open MPI 5 reports
/// MPI 3.1 of itself and has the rest of MPI 4, but no such functions.
#if MPI_VERSION >= 4
#define COLLDSL_MPI_LARGE_COUNTS 1
#endif
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define COLLDSL_MPI_IDUP_WITH_INFO 1
#define COLLDSL_MPI_SESSIONS 1
#define COLLDSL_MPI_PARTITIONED 1
#endif
/// MPI 4.1: the status of several requests, without completing them; buffers for the messages of a
/// communicator or of a session.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define COLLDSL_MPI_STATUS_OF_MANY 1
#define COLLDSL_MPI_BUFFERS_OF_COMMS 1
#endif

/// Requests of collectives have room that the MPI's Fortran functions write to.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define COLLDSL_MPI_LISTS_IN_REQUESTS 1
#endif

/// Types of ir/Vocabulary.def that not every MPI has.
#ifndef MPI_REAL2
#define MPI_REAL2 MPI_DATATYPE_NULL
#endif
#ifndef MPIX_C_FLOAT16
#define MPIX_C_FLOAT16 MPI_DATATYPE_NULL
#endif
#ifndef MPIX_BFLOAT16
#define MPIX_BFLOAT16 MPI_DATATYPE_NULL
#endif

/// The version as one number, 40104 for 4.1.4, and 0 for any other MPI: COLLDSL_OPEN_MPI,
/// COLLDSL_MPICH.
#ifdef OPEN_MPI
#define COLLDSL_OPEN_MPI                                                                           \
  (OMPI_MAJOR_VERSION * 10000 + OMPI_MINOR_VERSION * 100 + OMPI_RELEASE_VERSION)
#else
#define COLLDSL_OPEN_MPI 0
#endif
#ifdef MPICH_NUMVERSION
#define COLLDSL_MPICH (MPICH_NUMVERSION / 1000)
#else
#define COLLDSL_MPICH 0
#endif
