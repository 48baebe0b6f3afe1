#include "mpi/operations/OperationDevice.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

/// Memory of at most so many bytes is kept although less is needed.
constexpr uint64_t kKeptDeviceScratch = 1 << 20;

device::DeviceAddress addressOf(const std::byte *memory) {
  return reinterpret_cast<device::DeviceAddress>(memory);
}

} // namespace

Result<std::byte *> OperationDevice::scratch(const void *beside, uint64_t bytes) {
  Result<device::CuContext> context = device::contextOf(driver_, beside, 0);
  if (!context)
    return context.status();
  if (scratchUsed_ == scratch_.size())
    scratch_.push_back(std::make_unique<DeviceBlock>());
  DeviceBlock &block = *scratch_[scratchUsed_++];
  if (block.bytes() / 4 > std::max(bytes, kKeptDeviceScratch))
    block.free();
  if (!block.reserve(driver_, *context, std::max<uint64_t>(bytes, 1)))
    return Status::error(ErrorKind::NoMemory,
                         concat("no device memory for a copy of ", bytes, " bytes"));
  return reinterpret_cast<std::byte *>(block.address());
}

bool OperationDevice::isScratch(const void *address) const {
  auto at = reinterpret_cast<device::DeviceAddress>(address);
  return std::any_of(scratch_.begin(), scratch_.begin() + static_cast<ptrdiff_t>(scratchUsed_),
                     [&](const auto &block) {
                       return at >= block->address() && at - block->address() < block->bytes();
                     });
}

uint64_t OperationDevice::allocationAt(const std::byte *memory) const {
  uint64_t id = 0;
  device::CuResult known =
      driver_.pointerGetAttribute(&id, device::kPointerBufferId, addressOf(memory));
  return known == device::kCudaSuccess ? id : 0;
}

Status OperationDevice::bind(CollectivePlan &plan, const char *buffer, std::byte *memory,
                             uint64_t bytes) {
  if (bytes > 0)
    bound_.push_back({buffer, memory, bytes, allocationAt(memory)});
  return plan.bind(buffer, {memory, bytes, false, &driver_});
}

void OperationDevice::move(const char *buffer, ptrdiff_t by) {
  for (Bound &bound : bound_)
    if (bound.buffer == buffer)
      bound.memory += by;
}

Status OperationDevice::bindAnew(CollectivePlan &plan) {
  for (Bound &bound : bound_) {
    uint64_t now = allocationAt(bound.memory);
    if (std::exchange(bound.allocation, now) == now)
      continue;
    if (Status s = plan.bind(bound.buffer, {bound.memory, bound.bytes, false, &driver_}); !s)
      return s;
  }
  return {};
}

Status OperationDevice::openWork(const void *beside) {
  Result<device::CuContext> context = device::contextOf(driver_, beside, 0);
  if (!context)
    return context.status();
  if (work_ && work_->context() == *context)
    return {};
  auto work = device::AsyncWork::open(driver_, *context);
  if (!work)
    return work.status();
  Status s = (*work)->reserve(device::Lane::Within, 1);
  if (s)
    work_ = work.take();
  return s;
}

Status OperationDevice::copy(std::byte *to, const std::byte *from, uint64_t bytes) {
  if (Status s = openWork(to); !s)
    return s;
  hasCopies_ = true;
  return work_->addCopyWithin(work_->begin(device::Lane::Within), addressOf(to), addressOf(from),
                              bytes);
}

Status OperationDevice::start(CollectivePlan &plan) {
  if (!std::exchange(hasCopies_, false))
    return plan.start();
  if (Status s = work_->end(device::Lane::Within, 0); !s)
    return s;
  Status s = plan.makeReady();
  return s ? plan.plan().startOnStream(driver_, work_->begin(device::Lane::Within)) : s;
}

// The copies of a run that succeeded have ended before it began.
bool OperationDevice::endRun() {
  if (std::exchange(hasCopies_, false)) // of a run that did not begin
    (void)work_->end(device::Lane::Within, 0);
  return !work_ || !work_->anyUnderWay() || work_->drain(std::chrono::seconds(1));
}

// A device that stands still may yet write to the scratch memory.
OperationDevice::~OperationDevice() {
  if (!endRun())
    for (const auto &block : scratch_)
      block->abandon();
}

} // namespace colldsl::mpi
