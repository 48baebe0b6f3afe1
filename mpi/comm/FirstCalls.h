/// The first calls on a communicator: it may live for a few, and is not worth preparing for these.
#pragma once

#include "mpi/Call.h"

#include <algorithm>

namespace colldsl::mpi {

/// Counts collectives, as all ranks do. A long call counts as many short ones: what is prepared for
/// it costs little beside it.
class FirstCalls {
public:
  /// Called when the job begins, alike on all ranks. `takeTimeSlices`: Job::takesTimeSlices().
  static void begin(bool takeTimeSlices);
  /// The number of first calls of all ranks.
  static uint32_t limit() { return limit_; }

  /// There are none: the communicator is used from its first call on.
  void skip() { calls_ = neighborCalls_ = UINT32_MAX; }
  /// There are some along the topology, too.
  void countNeighbors() { neighborCalls_ = 0; }

  /// True if the first calls of all ranks were made.
  bool areOver() const { return calls_ >= limit_; }
  /// True if a call of this kind, made now, is one of the first.
  bool includes(CallKind kind) const {
    return isAlongTopology(kind) ? neighborCalls_ < neighborLimit_ : !areOver();
  }

  /// Counts a call; true if it is one of the first.
  bool count(const Call &call) {
    if (!includes(call.kind))
      return false;
    if (isAlongTopology(call.kind)) {
      ++neighborCalls_;
      return true;
    }
    uint32_t left = limit_ - calls_, calls = std::min(left + 1, inShortCalls(call));
    calls_ += std::min(left, calls);
    return calls <= left;
  }

  /// True if the MPI below may serve this blocking call, when it is one of the first: all MPIs
  /// serve it right, as all ranks know, and programs make such calls on communicators that live for
  /// a few calls.
  static bool mayPassOn(const Call &call) {
    bool isReduced = call.kind == CallKind::Allreduce;
    bool isUsual = call.op == MPI_SUM || call.op == MPI_MAX || call.op == MPI_MIN;
    return isAlways(call.kind) || (isReduced && isUsual && isUsualType(call.reducedType()));
  }

private:
  static bool isAlways(CallKind kind) {
    return kind == CallKind::Barrier || kind == CallKind::Bcast || kind == CallKind::Allgather ||
           kind == CallKind::Alltoall || kind == CallKind::NeighborAllgather;
  }
  /// The number of short calls that a call counts as: from its bytes where all ranks know them.
  static uint32_t inShortCalls(const Call &call);
  static bool isUsualType(MPI_Datatype type) {
    return type == MPI_INT || type == MPI_LONG || type == MPI_LONG_LONG || type == MPI_FLOAT ||
           type == MPI_DOUBLE;
  }

  static inline uint32_t limit_ = 0, neighborLimit_ = 0; ///< before the job begins nothing counts

  uint32_t calls_ = 0;                  ///< of all ranks so far, up to the limit
  uint32_t neighborCalls_ = UINT32_MAX; ///< along the topology
};

} // namespace colldsl::mpi
