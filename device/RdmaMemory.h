/// Device memory that network devices read and write themselves (GPUDirect RDMA), as the
/// documentation of that wants it.
///
/// Ordering. A device sends bytes that CUDA's work has written once an event shows here that this
/// work has finished. Bytes that a network device has written are seen by work of the device that
/// is submitted afterwards; that may already wait in a stream, so the writes are flushed before
/// anybody learns of them, unless the device orders them itself.
#pragma once

#include "device/CudaDriver.h"

#include <utility>

namespace colldsl::device {

/// A file descriptor of a dma-buf, which is closed with this. A network device that has registered
/// the memory needs it no more.
class DmaBuf {
public:
  DmaBuf() = default;
  explicit DmaBuf(int file) : file_(file) {}
  DmaBuf(DmaBuf &&other) noexcept : file_(std::exchange(other.file_, -1)) {}
  DmaBuf &operator=(DmaBuf &&other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~DmaBuf();

  int file() const { return file_; } ///< -1: there is none

private:
  int file_ = -1;
};

/// An allocation that network devices may register.
struct RdmaMemory {
  Allocation allocation;
  int ordinal = 0;     ///< of the device, as CUDA counts them
  DmaBuf dmaBuf;       ///< of whole pages around the allocation; none: the driver exports none
  uint64_t offset = 0; ///< of the allocation in the dma-buf
};

/// Exports the allocation in which the address lies. Errors: as of allocationOf().
Result<RdmaMemory> exportForRdma(const CudaDriver &driver, const void *address);

/// From now on copies and the like of the allocation that return to their caller have ended
/// (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), which a network device needs before it reads or writes
/// there. Nothing takes the attribute back. An error: the driver is too old, or refuses.
Status synchronizeCopies(const CudaDriver &driver, const Allocation &allocation);

/// The visibility of what network devices write to the memory of a device.
enum class RemoteWrites : uint8_t {
  Ordered, ///< the device sees them in their order
  Flushed, ///< it does so after flushRemoteWrites()
  Unknown, ///< it may see them late
};

/// An error of the driver: Unknown.
RemoteWrites remoteWritesOf(const CudaDriver &driver, const void *address);

/// Waits until the device of the context sees what network devices have written there.
Status flushRemoteWrites(const CudaDriver &driver, CuContext context);

} // namespace colldsl::device
