/// The persistent calls of a communicator. They are started in any order, so each has a stream or a
/// context of its own.
#pragma once

#include "mpi/CallArguments.h"
#include "mpi/Job.h"
#include "mpi/comm/DeviceAgreement.h"
#include "mpi/operations/Operation.h"

namespace colldsl::mpi {

class ServedComm;

/// Under a Guard.
class PersistentCalls {
public:
  explicit PersistentCalls(ServedComm &comm) : comm_(comm) {}

  /// The operation for a persistent call, which shares it with no other call. `memory`: of the
  /// buffers of all ranks, Host or Devices. Unless the call is along the topology, a context must
  /// have been kept for it; null, on all ranks: it was not, or the call is for the MPI below. After
  /// an error, as OperationCache::find() has them, its runs fail on the other ranks.
  MadeOperation make(const Call &call, CallMemory memory, WrongArgument &wrong);

  /// Forgets refused calls at the end of the job.
  void leaveJob() { refused_.clear(); }

private:
  MadeOperation makeFor(const Call &call, CallMemory memory, Job::Context context,
                        WrongArgument &wrong);
  void refuse(CallKind kind, const Job::Context &context, const Status &why);
  void refusePlans(const Job::Context &context, const Status &why);
  void endAllRuns(std::shared_ptr<protocol::RunProgress> progress);

  ServedComm &comm_;
  uint32_t streams_ = 0; ///< of calls along the topology, so far
  std::vector<std::shared_ptr<protocol::RunProgress>> refused_;
};

} // namespace colldsl::mpi
