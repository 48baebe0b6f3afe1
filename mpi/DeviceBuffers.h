/// In which memory the buffers of a call lie.
#pragma once

#include "mpi/Call.h"
#include "mpi/DeviceMemory.h"

namespace colldsl::mpi {

/// The first of Device, Managed, Host that some buffer lies in. The first byte of a buffer counts
/// for all of it; with MPI_BOTTOM, where blocks may lie anywhere, that of each of their pieces.
/// Sides that this rank ignores are empty. `sendSlots`, `recvSlots`: blocks of either side.
MemoryKind memoryOf(const Call &call, int sendSlots, int recvSlots);

} // namespace colldsl::mpi
