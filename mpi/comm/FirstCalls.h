/// The first calls on a communicator: it may live for a few, and is not worth preparing for these.
#pragma once

#include "mpi/Call.h"
#include "mpi/Settings.h"

namespace colldsl::mpi {

/// Counts collectives of all ranks, as all ranks do.
class FirstCalls {
public:
  /// There are none: the communicator is used from its first call on.
  void areOver() { calls_ = UINT32_MAX; }

  /// True if a call of this kind, made now, is one of the first.
  bool includes(CallKind kind) const {
    return !isAlongTopology(kind) && calls_ < Settings::all().firstCalls();
  }

  /// Counts a call, and returns includes().
  bool count(CallKind kind) {
    bool isFirst = includes(kind);
    calls_ += isFirst;
    return isFirst;
  }

  /// True if the MPI below may serve this blocking call, when it is one of the first: all MPIs
  /// serve it right, as all ranks know, and programs make such calls on communicators that live for
  /// a few calls.
  static bool mayPassOn(const Call &call) {
    if (call.kind == CallKind::Barrier || call.kind == CallKind::Bcast)
      return true;
    if (call.kind != CallKind::Allreduce)
      return false;
    const MPI_Datatype type = call.reducedType();
    bool isUsual = call.op == MPI_SUM || call.op == MPI_MAX || call.op == MPI_MIN;
    return isUsual && (type == MPI_INT || type == MPI_LONG || type == MPI_LONG_LONG ||
                       type == MPI_FLOAT || type == MPI_DOUBLE);
  }

private:
  uint32_t calls_ = 0; ///< so far, up to Settings::firstCalls()
};

} // namespace colldsl::mpi
