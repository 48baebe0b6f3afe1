/// Memory of devices in the calls on a communicator: which calls may have it, and the agreement of
/// the ranks on a call.
#pragma once

#include "device/CudaDriver.h"
#include "mpi/DeviceMemory.h"
#include "mpi/operations/OwnAllreduce.h"

#include <array>
#include <optional>

namespace colldsl::mpi {

class ServedComm;

/// The memory of all buffers that the ranks have in a call.
enum class CallMemory : uint8_t {
  Host,
  Devices, ///< which these ranks can copy from each other
  Other    ///< for the MPI below: mixed, managed, or of devices that are not used here
};

class DeviceAgreement {
public:
  explicit DeviceAgreement(ServedComm &comm) : comm_(comm) {}

  /// Looks for drivers. True if this process has one by now; then no call is taken for the one
  /// before it by its arguments alone.
  static bool look();

  /// True if some rank had the driver of an accelerator when the communicator was made, or its
  /// parent: alike on all ranks. Then all ranks agree on each call that has buffers, but for
  /// nonblocking ones, which go to the MPI below.
  bool mayUseDevices() const { return mayUseDevices_; }
  void setMayUseDevices(bool may) { mayUseDevices_ = may; }

  /// Collective over the communicator, and counted as one run or several, alike on all ranks. Under
  /// a Guard.
  Result<CallMemory> agree(const Call &call);

  /// An error: a buffer is in memory of a device although no rank had a driver when the
  /// communicator was made.
  Status check(const Call &call) const;

  /// Forgets its operations at the end of the job.
  void leaveJob() {
    votes_.clear();
    canReach_.reset();
  }

private:
  /// An allocation that other processes can open, of a context.
  struct Shareable {
    uint64_t id = 0; ///< 0: none
    device::CuContext context = nullptr;
  };
  /// Bits of the votes.
  enum Vote : int { kHost = 1, kDevices = 2, kOther = 4 };

  MemoryKind memoryFor(const Call &call) const;
  Vote voteFor(const Call &call, const void *&buffer);
  bool servesOnDevices(const Call &call) const;
  struct Blocks {
    const void *first = nullptr; ///< null: there are no data
    /// In which all blocks lie without gaps; none: they do not, or it cannot be shared.
    std::optional<Shareable> allocation;
  };
  Blocks blocksOf(const BlockSide &side, int slots);
  std::optional<Shareable> shareableAt(const void *address);

  ServedComm &comm_;
  bool mayUseDevices_ = false;
  std::array<Shareable, 8> shareables_; ///< the last ones that were found
  size_t numShareables_ = 0;
  std::optional<bool> canReach_; ///< each other, once all ranks had a buffer on a device
  int mine_ = 0, all_ = 0;
  OwnAllreduce votes_{MPI_BOR, MPI_INT, 1, &mine_, &all_};
};

} // namespace colldsl::mpi
