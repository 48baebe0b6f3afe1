/// An MPI that may be given memory of CUDA's devices, for the collectives of DevicePassing.cpp.
#pragma once

#include "mpi/Mpi.h"

/// Calls with so many elements per block are counted, and may have such buffers.
inline constexpr int kAwareCount = 1000;

/// How many of them came to the MPI so far.
extern "C" int callsBelow();
