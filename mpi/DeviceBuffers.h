/// The kind of memory in which the buffers of a call lie.
#pragma once

#include "mpi/Call.h"
#include "mpi/DeviceMemory.h"

namespace colldsl::mpi {

/// The first of Device, Managed, Host in which some buffer lies. The first byte of a buffer stands
/// for all of it; with MPI_BOTTOM, whose blocks may lie anywhere, the first byte of each of their
/// pieces. Sides that this rank ignores are empty. `sendSlots`, `recvSlots`: blocks of either side.
MemoryKind memoryOf(const Call &call, int sendSlots, int recvSlots);

} // namespace colldsl::mpi
