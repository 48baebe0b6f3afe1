#include "mpi/comm/DeviceAgreement.h"

#include "ir/Concat.h"
#include "mpi/CallArguments.h"
#include "mpi/comm/ServedComm.h"
#include "runtime/MemoryReserve.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// The first byte of a buffer stands for all of it; with MPI_BOTTOM, whose blocks may lie anywhere,
// the first byte of each of their pieces. Skips wrong types, which the MPI refuses.
MemoryKind memoryOf(const BlockSide &side, int slots) {
  bool liesAnywhere = side.buffer == MPI_BOTTOM;
  MemoryKind worst = MemoryKind::Host;
  if (side.isInPlace())
    return worst;
  for (int slot = 0; slot < slots; ++slot) {
    MPI_Datatype type = side.typeOf(slot);
    if (type == MPI_DATATYPE_NULL || side.countOf(slot) <= 0)
      continue;
    Result<SharedLayout> layout = layoutOf(type);
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

bool DeviceAgreement::look() {
  bool wereThere = Accelerators::arePresent(), areThere = Accelerators::look();
  if (areThere && !wereThere)
    KnownComms::forgetLast();
  return areThere;
}

/// The first of Device, Managed, Host in which some buffer lies.
MemoryKind DeviceAgreement::memoryFor(const Call &call) const {
  Call known = significant(call, comm_.ranks().self());
  return std::max(memoryOf(known.send, comm_.sendSlots(call.kind)),
                  memoryOf(known.recv, comm_.recvSlots(call.kind)));
}

// If ranks may use devices, they have agreed on the call before. Managed memory is usable by the
// CPU too.
Status DeviceAgreement::check(const Call &call) const {
  if (mayUseDevices_ || memoryFor(call) != MemoryKind::Device)
    return {};
  return Status::error(ErrorKind::DeviceMemory,
                       concat(factsOf(call.kind).name,
                              ": a buffer is in memory of a device, whose driver was loaded after "
                              "the communicator was made"));
}

Result<bool> DeviceAgreement::agree(const Call &call) {
  mine_ = look() && memoryFor(call) != MemoryKind::Host;
  CommRuns &runs = comm_.runs();
  Result<bool> isProved =
      unlessMemoryIsShort([&] { return most_.prepare(comm_, runs.last() + 1); });
  if (!isProved) {
    runs.skip(CallKind::Allreduce, isProved.status());
    return isProved.status();
  }
  if (!*isProved) // on all ranks: then all pass the call on
    return true;
  if (Status s = most_.run(runs.next()); !s)
    return s;
  return any_ != 0;
}

} // namespace colldsl::mpi
