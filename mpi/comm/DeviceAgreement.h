/// Memory of devices in the calls on a communicator: which calls may have it, and the agreement of
/// the ranks on a call.
#pragma once

#include "device/IpcMemory.h"
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
  Other    ///< for the MPI below: mixed, managed, of devices that are not used here, or unknown
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

  /// Collective over the communicator, and counted as kRuns runs, also if it fails on this rank
  /// alone: the others are not to wait for it. Under a Guard.
  Result<CallMemory> agree(const Call &call);
  static constexpr uint32_t kRuns = 3;

  /// An error: a buffer is in memory of a device although no rank had a driver when the
  /// communicator was made.
  Status check(const Call &call) const;

  /// Forgets its operations at the end of the job.
  void leaveJob() {
    votes_.clear();
    tried_.clear();
  }

private:
  /// An allocation that other processes can open.
  struct Shareable {
    device::Allocation allocation; ///< no bytes: none
    bool has(const void *address, uint64_t bytes) const {
      uint64_t offset = reinterpret_cast<device::DeviceAddress>(address) - allocation.begin;
      return offset < allocation.bytes && bytes <= allocation.bytes - offset;
    }
  };
  struct Blocks {
    bool hasData = false;
    const void *last = nullptr; ///< the last block; null with MPI_BOTTOM
    /// In which all blocks lie without gaps; none: they do not, or it cannot be shared.
    std::optional<Shareable> in;
  };
  /// A context of which all ranks had a buffer at once, with its cache, to keep what is open.
  struct Tried {
    device::CuContext context;
    std::shared_ptr<device::IpcCache> cache;
  };
  /// Bits of the votes.
  enum Vote : int {
    kHost = 1,
    kDevices = 2,
    kOther = 4,
    kNewContext = 8, ///< with kDevices: no other call had a buffer of that context
  };

  MemoryKind memoryFor(const Call &known) const;
  int voteFor(const Call &call);
  bool servesOnDevices(const Call &call) const;
  Blocks blocksOf(const BlockSide &side, int slots);
  std::optional<Shareable> shareableAt(const device::CudaDriver &driver, const void *address);
  bool wasTried(device::CuContext context) const;
  Status tryReach();
  Result<CallMemory> agreeInRuns(const Call &call);

  ServedComm &comm_;
  bool mayUseDevices_ = false;
  std::array<Shareable, 8> shareables_; ///< the last ones that were found
  size_t numShareables_ = 0;
  std::vector<Tried> tried_;
  bool canReach_ = true; ///< each other, as far as was tried; alike on all ranks
  int mine_ = 0, all_ = 0;
  const void *buffer_ = nullptr; ///< of the last call that had buffers on devices, and its context
  device::CuContext context_ = nullptr;
  OwnAllreduce votes_{MPI_BOR, MPI_INT, 1, &mine_, &all_};
};

} // namespace colldsl::mpi
