/// The operations that a communicator keeps for blocking and nonblocking calls, and the way from a
/// call to one of them.
#pragma once

#include "mpi/CallArguments.h"
#include "mpi/comm/DeviceAgreement.h"
#include "mpi/operations/Operation.h"
#include "mpi/operations/Prepared.h"

#include <array>

namespace colldsl::mpi {

class ServedComm;

/// Under a Guard, unless noted otherwise.
class OperationCache {
public:
  /// `memory`: that of the calls' buffers, Host or Devices.
  OperationCache(ServedComm &comm, CallMemory memory) : comm_(comm), memory_(memory) {}

  /// The operation for a call: one prepared before if the same call came before. Null: the call is
  /// for the MPI below, on all ranks. An error: memory is short; an argument is wrong, which
  /// `wrong` then has; or a buffer is in memory of a device although no rank had a driver when the
  /// communicator was made. The caller then skips the run.
  MadeOperation find(const Call &call, WrongArgument &wrong);

  /// True if this call uses the operation of the last call of its kind: programs take turns with
  /// some kinds. Needs no Guard: a program makes the calls on one communicator one after the other.
  bool isSameAsLast(const Call &call) const {
    const Quick &quick = quickOf(call.kind);
    return quick.operation && quick.call.isSameAs(call);
  }
  /// The operation of the last call of its kind; idle() is null: a run of it is under way.
  const std::shared_ptr<Operation> &last(CallKind kind) const { return quickOf(kind).operation; }
  Operation *idle(CallKind kind) const {
    Operation *operation = quickOf(kind).operation.get();
    return operation->isBusy() ? nullptr : operation;
  }

  /// An info hint asserts, or no longer asserts, that the arguments of neighbourhood collectives
  /// stay the same.
  void trustArguments(bool areFixed);

  /// Forgets all operations at the end of the job.
  void leaveJob();

private:
  /// The last call of a kind. No operation: equal arguments may mean another call.
  struct Quick {
    std::shared_ptr<Operation> operation;
    Call call = {};
  };
  /// The operation that serves a kind of call whose arguments stay.
  struct Fixed {
    std::shared_ptr<Operation> operation;
    Call call;
  };

  const Quick &quickOf(CallKind kind) const { return quick_[static_cast<size_t>(kind)]; }
  /// True unless operations of such calls learn, count calls, or look at the memory of the call.
  bool mayFollow(const Call &call) const;
  bool trusts(const Call &call) const { return !fixed_.empty() && isAlongTopology(call.kind); }
  MadeOperation fixedOrFound(const Call &call, WrongArgument &wrong);
  void distrust(CallKind kind);
  MadeOperation findOrMake(const Call &call, WrongArgument &wrong);
  MadeOperation resizeOrMake(const Call &call);
  MadeOperation make(const Call &call);
  MadeOperation makeOrLearn(const Call &call);

  ServedComm &comm_;
  const CallMemory memory_;
  PreparedOperations prepared_;
  std::array<Quick, kCallKinds> quick_;
  std::vector<Fixed> fixed_; ///< indexed by kind of call; empty: arguments may change
};

} // namespace colldsl::mpi
