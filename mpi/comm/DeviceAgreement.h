/// Memory of devices in the calls on a communicator: which calls may have it, and the agreement of
/// the ranks on a call.
#pragma once

#include "mpi/DeviceMemory.h"
#include "mpi/operations/OwnAllreduce.h"

namespace colldsl::mpi {

class ServedComm;

class DeviceAgreement {
public:
  explicit DeviceAgreement(ServedComm &comm) : comm_(comm) {}

  /// Looks for drivers. True if this process has one by now; then no call is taken for the one
  /// before it by its arguments alone.
  static bool look();

  /// True if some rank had the driver of an accelerator when the communicator was made, or its
  /// parent: alike on all ranks. Then all ranks agree on each blocking call that has buffers, and
  /// other calls that have buffers go to the MPI below.
  bool mayUseDevices() const { return mayUseDevices_; }
  void setMayUseDevices(bool may) { mayUseDevices_ = may; }

  /// Collective over the communicator, and counted as a run: true if some rank has a buffer of this
  /// call in memory of a device, managed memory included. Under a Guard.
  Result<bool> agree(const Call &call);

  /// An error: a buffer is in memory of a device although no rank had a driver when the
  /// communicator was made.
  Status check(const Call &call) const;

  /// Forgets its operation at the end of the job.
  void leaveJob() { most_.clear(); }

private:
  MemoryKind memoryFor(const Call &call) const;

  ServedComm &comm_;
  bool mayUseDevices_ = false;
  int mine_ = 0, any_ = 0; ///< of this rank's call; of any rank's
  OwnAllreduce most_{MPI_MAX, MPI_INT, 1, &mine_, &any_};
};

} // namespace colldsl::mpi
