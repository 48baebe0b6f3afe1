#include "mpi/DeviceBuffers.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// Skips wrong types, which the MPI refuses.
MemoryKind memoryOf(const BlockSide &side, int slots) {
  bool liesAnywhere = side.buffer == MPI_BOTTOM;
  MemoryKind worst = MemoryKind::Host;
  if (side.isInPlace())
    return worst;
  for (int slot = 0; slot < slots; ++slot) {
    MPI_Datatype type = side.typeOf(slot);
    if (type == MPI_DATATYPE_NULL || side.countOf(slot) <= 0)
      continue;
    Result<std::shared_ptr<const TypeLayout>> layout = layoutOf(type);
    if (!layout || (*layout)->runs.empty())
      continue;
    for (const Run &run : (*layout)->runs) {
      const std::byte *first = moved(side.addressOf(slot, **layout), run.offset);
      worst = std::max(worst, Accelerators::kindOf(first));
      if (!liesAnywhere)
        return worst;
    }
  }
  return worst;
}

} // namespace

MemoryKind memoryOf(const Call &call, int sendSlots, int recvSlots) {
  return std::max(memoryOf(call.send, sendSlots), memoryOf(call.recv, recvSlots));
}

} // namespace colldsl::mpi
