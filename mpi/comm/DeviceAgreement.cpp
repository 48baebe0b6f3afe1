#include "mpi/comm/DeviceAgreement.h"

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

/// The significant arguments of a call. A reduce_scatter has the count of what it sends.
Call withData(const Call &call, const ServedComm &comm) {
  Call known = significant(call, comm.ranks().self());
  if (call.kind == CallKind::ReduceScatter && !known.send.isInPlace())
    known.send.count = known.recv.sumOfCounts(comm.ranks().count());
  return known;
}

/// Calls visit(slot, first byte, layout) for each block that has data, until it returns false.
/// Skips wrong types, which the MPI refuses.
template <typename Visit> void forEachBlock(const BlockSide &side, int slots, Visit visit) {
  for (int slot = 0; !side.isInPlace() && slot < slots; ++slot) {
    MPI_Datatype type = side.typeOf(slot);
    if (type == MPI_DATATYPE_NULL || side.countOf(slot) <= 0)
      continue;
    Result<SharedLayout> layout = layoutOf(type);
    if (layout && !(*layout)->runs.empty() &&
        !visit(slot, side.addressOf(slot, **layout), **layout))
      return;
  }
}

// The first byte of a buffer stands for all of it; with MPI_BOTTOM, whose blocks may lie anywhere,
// the first byte of each of their pieces.
MemoryKind memoryOf(const BlockSide &side, int slots) {
  bool liesAnywhere = side.buffer == MPI_BOTTOM;
  MemoryKind worst = MemoryKind::Host;
  forEachBlock(side, slots, [&](int, const std::byte *block, const TypeLayout &layout) {
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

/// The first of Device, Managed, Host in which some significant buffer lies.
MemoryKind DeviceAgreement::memoryFor(const Call &known) const {
  return std::max(memoryOf(known.send, comm_.sendSlots(known.kind)),
                  memoryOf(known.recv, comm_.recvSlots(known.kind)));
}

// If ranks may use devices, they have agreed on the call before. Managed memory is usable by the
// CPU too.
Status DeviceAgreement::check(const Call &call) const {
  if (mayUseDevices_ || memoryFor(withData(call, comm_)) != MemoryKind::Device)
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
  Result<const device::CudaDriver *> driver = device::cudaDriver();
  forEachBlock(side, slots, [&](int slot, const std::byte *block, const TypeLayout &layout) {
    blocks.last = block;
    if (!std::exchange(blocks.hasData, true) && driver)
      blocks.in = shareableAt(**driver, block);
    uint64_t bytes = static_cast<uint64_t>(side.countOf(slot)) * layout.size;
    if (!layout.isDense() || (blocks.in && !blocks.in->has(block, bytes)))
      blocks.in.reset();
    return blocks.in && side.counts;
  });
  return blocks;
}

std::optional<DeviceAgreement::Shareable>
DeviceAgreement::shareableAt(const device::CudaDriver &driver, const void *address) {
  uint64_t id = 0;
  if (driver.pointerGetAttribute(&id, device::kPointerBufferId,
                                 reinterpret_cast<device::DeviceAddress>(address)) !=
      device::kCudaSuccess)
    return std::nullopt;
  for (const Shareable &known : shareables_)
    if (known.allocation.bytes > 0 && known.allocation.id == id)
      return known;
  Result<device::Allocation> allocation = device::allocationOf(driver, address, 0);
  if (!allocation || !device::exportMemory(driver, address, 0))
    return std::nullopt;
  return shareables_[numShareables_++ % shareables_.size()] = {*allocation};
}

bool DeviceAgreement::wasTried(device::CuContext context) const {
  return std::any_of(tried_.begin(), tried_.end(),
                     [&](const Tried &tried) { return tried.context == context; });
}

// A rank without a buffer on a device has no device to pass on what goes through it.
int DeviceAgreement::voteFor(const Call &call) {
  if (!look())
    return kHost;
  Call known = withData(call, comm_);
  MemoryKind kind = memoryFor(known);
  if (kind != MemoryKind::Device)
    return kind == MemoryKind::Host ? kHost : kOther;
  if (!servesOnDevices(known))
    return kOther;
  context_ = nullptr;
  for (const Blocks &blocks : {blocksOf(known.send, comm_.sendSlots(call.kind)),
                               blocksOf(known.recv, comm_.recvSlots(call.kind))}) {
    if (!blocks.hasData)
      continue;
    if (!blocks.in || (context_ && blocks.in->allocation.context != context_))
      return kOther;
    context_ = blocks.in->allocation.context;
    buffer_ = blocks.last;
  }
  return wasTried(context_) ? kDevices : kDevices | kNewContext;
}

/// Collective over the communicator.
Status DeviceAgreement::tryReach() {
  const device::CudaDriver &driver = **device::cudaDriver();
  auto cache = device::IpcCache::of(driver, context_);
  Result<bool> found = canReachEachOther(comm_, driver, buffer_, *cache);
  if (!found)
    return found.status();
  if (!wasTried(context_))
    tried_.push_back({context_, std::move(cache)});
  canReach_ = canReach_ && *found;
  return {};
}

Result<CallMemory> DeviceAgreement::agree(const Call &call) {
  CommRuns &runs = comm_.runs();
  const uint32_t end = runs.last() + kRuns;
  Result<CallMemory> agreed = agreeInRuns(call);
  while (runs.last() < end)
    agreed ? void(runs.next()) : runs.skip(CallKind::Allreduce, agreed.status());
  return agreed;
}

Result<CallMemory> DeviceAgreement::agreeInRuns(const Call &call) {
  CommRuns &runs = comm_.runs();
  Result<bool> isServed = unlessMemoryIsShort([&] {
    mine_ = voteFor(call);
    return votes_.prepare(comm_, runs.last() + 1);
  });
  if (!isServed) {
    runs.skip(CallKind::Allreduce, isServed.status());
    return isServed.status();
  }
  if (!*isServed) // on all ranks
    return CallMemory::Other;
  if (Status s = votes_.run(runs.next()); !s)
    return s;
  if (all_ == (kDevices | kNewContext))
    if (Status s = tryReach(); !s)
      return s;
  if (all_ & kDevices && !(all_ & (kHost | kOther)))
    return canReach_ ? CallMemory::Devices : CallMemory::Other;
  return all_ == kHost ? CallMemory::Host : CallMemory::Other;
}

} // namespace colldsl::mpi
