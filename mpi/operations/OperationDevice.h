/// The device in whose memory the buffers of an operation lie: memory there for copies of inputs,
/// and runs that begin behind these copies.
#pragma once

#include "device/AsyncWork.h"
#include "executor/DeviceAreas.h"
#include "runtime/CollectivePlan.h"

#include <vector>

namespace colldsl::mpi {

/// Between runs, unless noted otherwise. Under a Guard.
class OperationDevice {
public:
  /// The driver outlives it.
  explicit OperationDevice(const device::CudaDriver &driver) : driver_(driver) {}
  ~OperationDevice();
  OperationDevice(const OperationDevice &) = delete;
  OperationDevice &operator=(const OperationDevice &) = delete;

  /// Memory in the context of `beside`, which lives until it is forgotten; its content is
  /// undefined.
  Result<std::byte *> scratch(const void *beside, uint64_t bytes);
  bool isScratch(const void *address) const;
  bool hasScratch() const { return scratchUsed_ > 0; }

  /// Binds a buffer of the plan to memory of the device.
  Status bind(CollectivePlan &plan, const char *buffer, std::byte *memory, uint64_t bytes);
  /// Forgets what was bound, and scratch memory.
  void forget() {
    bound_.clear();
    scratchUsed_ = 0;
  }
  /// Called when memory of the caller that was bound has moved, as the plan knows.
  void move(const char *buffer, ptrdiff_t by);
  /// Binds memory again that was freed and allocated since: the other ranks cannot open what it was
  /// exported as.
  Status bindAnew(CollectivePlan &plan);

  /// Adds a copy into scratch memory, behind which the next run begins.
  Status copy(std::byte *to, const std::byte *from, uint64_t bytes);
  Status start(CollectivePlan &plan);
  /// Called after a run. False: the device has not finished the copies within a second.
  bool endRun();

private:
  struct Bound {
    const char *buffer;
    std::byte *memory;
    uint64_t bytes;
    uint64_t allocation; ///< id
  };
  uint64_t allocationAt(const std::byte *memory) const;
  Status openWork(const void *beside);

  const device::CudaDriver &driver_;
  std::vector<std::unique_ptr<DeviceBlock>> scratch_; ///< kept for the next call
  size_t scratchUsed_ = 0;
  std::vector<Bound> bound_;
  std::unique_ptr<device::AsyncWork> work_; ///< copies into scratch memory; null: there were none
  bool hasCopies_ = false;                  ///< of the next run
};

} // namespace colldsl::mpi
