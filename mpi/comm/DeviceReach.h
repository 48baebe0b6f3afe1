/// Devices of which one cannot open the memory of another.
#pragma once

#include "device/IpcMemory.h"

namespace colldsl::mpi {

class ServedComm;

/// Collective over the communicator, and counted as two runs: each rank tries to open the memory
/// that the others have at `buffer`, in its cache, which is of the buffer's context. True, on all
/// ranks, if all could; that holds for all memory of these devices. An error: memory is short, or a
/// rank failed. Under a Guard.
Result<bool> canReachEachOther(ServedComm &comm, const device::CudaDriver &driver,
                               const void *buffer, device::IpcCache &cache);

} // namespace colldsl::mpi
