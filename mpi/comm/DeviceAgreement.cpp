#include "mpi/comm/DeviceAgreement.h"

#include "device/IpcMemory.h"
#include "ir/Concat.h"
#include "mpi/CallArguments.h"
#include "mpi/Settings.h"
#include "mpi/comm/DeviceReach.h"
#include "mpi/comm/ServedComm.h"
#include "mpi/types/Reductions.h"
#include "runtime/MemoryReserve.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

/// Calls visit(first byte, layout) for each block that has data, until it returns false. Skips
/// wrong types, which the MPI refuses.
template <typename Visit> void forEachBlock(const BlockSide &side, int slots, Visit visit) {
  for (int slot = 0; !side.isInPlace() && slot < slots; ++slot) {
    MPI_Datatype type = side.typeOf(slot);
    if (type == MPI_DATATYPE_NULL || side.countOf(slot) <= 0)
      continue;
    Result<SharedLayout> layout = layoutOf(type);
    if (layout && !(*layout)->runs.empty() && !visit(side.addressOf(slot, **layout), **layout))
      return;
  }
}

// The first byte of a buffer stands for all of it; with MPI_BOTTOM, whose blocks may lie anywhere,
// the first byte of each of their pieces.
MemoryKind memoryOf(const BlockSide &side, int slots) {
  bool liesAnywhere = side.buffer == MPI_BOTTOM;
  MemoryKind worst = MemoryKind::Host;
  forEachBlock(side, slots, [&](const std::byte *block, const TypeLayout &layout) {
    for (const Run &run : layout.runs) {
      worst = std::max(worst, Accelerators::kindOf(moved(block, run.offset)));
      if (!liesAnywhere)
        return false;
    }
    return true;
  });
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

/// True if calls of this kind, operator and types may be served where the buffers are on devices.
bool DeviceAgreement::servesOnDevices(const Call &call) const {
  if (isAlongTopology(call.kind) || comm_.ranks().areSpread() || !Accelerators::hasCuda() ||
      !Settings::all().servesDevices())
    return false;
  return !reduces(call.kind) || Reduction::isOfDevices(call.op, call.reducedType());
}

DeviceAgreement::Blocks DeviceAgreement::blocksOf(const BlockSide &side, int slots) {
  Blocks blocks;
  forEachBlock(side, slots, [&](const std::byte *block, const TypeLayout &layout) {
    std::optional<Shareable> own = layout.isDense() ? shareableAt(block) : std::nullopt;
    bool isAlike = !blocks.first || (own && own->id == blocks.allocation->id);
    blocks = {block, isAlike ? own : std::nullopt};
    return blocks.allocation && side.counts;
  });
  return blocks;
}

std::optional<DeviceAgreement::Shareable> DeviceAgreement::shareableAt(const void *address) {
  Result<const device::CudaDriver *> driver = device::cudaDriver();
  uint64_t id = 0;
  if (!driver || (*driver)->pointerGetAttribute(&id, device::kPointerBufferId,
                                                reinterpret_cast<device::DeviceAddress>(address)) !=
                     device::kCudaSuccess)
    return std::nullopt;
  for (const Shareable &known : shareables_)
    if (known.id == id && id != 0)
      return known;
  Result<device::Allocation> allocation = device::allocationOf(**driver, address, 0);
  if (!allocation || !device::exportMemory(**driver, address, 0))
    return std::nullopt;
  return shareables_[numShareables_++ % shareables_.size()] = {id, allocation->context};
}

// A rank without a buffer on a device has no device to pass on what goes through it.
DeviceAgreement::Vote DeviceAgreement::voteFor(const Call &call, const void *&buffer) {
  Call known = significant(call, comm_.ranks().self());
  MemoryKind kind = look() ? memoryFor(call) : MemoryKind::Host;
  if (kind != MemoryKind::Device)
    return kind == MemoryKind::Host ? kHost : kOther;
  if (!servesOnDevices(known))
    return kOther;
  std::optional<device::CuContext> context;
  for (const Blocks &blocks : {blocksOf(known.send, comm_.sendSlots(call.kind)),
                               blocksOf(known.recv, comm_.recvSlots(call.kind))}) {
    if (!blocks.first)
      continue;
    if (!blocks.allocation || (context && blocks.allocation->context != *context))
      return kOther;
    context = blocks.allocation->context;
    buffer = blocks.first;
  }
  return kDevices;
}

Result<CallMemory> DeviceAgreement::agree(const Call &call) {
  const void *buffer = nullptr;
  mine_ = voteFor(call, buffer);
  CommRuns &runs = comm_.runs();
  Result<bool> isServed =
      unlessMemoryIsShort([&] { return votes_.prepare(comm_, runs.last() + 1); });
  if (!isServed) {
    runs.skip(CallKind::Allreduce, isServed.status());
    return isServed.status();
  }
  if (!*isServed) // on all ranks
    return CallMemory::Other;
  if (Status s = votes_.run(runs.next()); !s)
    return s;
  if (all_ != kDevices)
    return all_ == kHost ? CallMemory::Host : CallMemory::Other;
  if (!canReach_) {
    Result<bool> found = canReachEachOther(comm_, buffer);
    if (!found)
      return found.status();
    canReach_ = *found;
  }
  return *canReach_ ? CallMemory::Devices : CallMemory::Other;
}

} // namespace colldsl::mpi
