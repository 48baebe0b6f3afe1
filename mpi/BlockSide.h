/// Selects the count of a call that is the length of one block.
#pragma once

#include "mpi/Call.h"

namespace colldsl::mpi {

/// Returns the side whose count is significant on this rank and is the same block on all ranks.
/// Null: blocks have lengths of their own, or the call has no blocks.
inline const Side *blockSide(const Call &call, bool isRoot) {
  switch (call.kind) {
  case CallKind::Bcast:
  case CallKind::Allgather:
  case CallKind::Alltoall:
  case CallKind::ReduceScatterBlock:
    return &call.recv;
  case CallKind::Reduce:
  case CallKind::Allreduce:
  case CallKind::Scan:
  case CallKind::Exscan:
    return call.send.buffer == MPI_IN_PLACE ? &call.recv : &call.send;
  case CallKind::Gather:
    return isRoot ? &call.recv : &call.send;
  case CallKind::Scatter:
    return isRoot ? &call.send : &call.recv;
  case CallKind::NeighborAllgather:
  case CallKind::NeighborAllgatherv:
  case CallKind::NeighborAlltoall:
  case CallKind::NeighborAlltoallv:
  case CallKind::NeighborAlltoallw:
  case CallKind::Barrier:
  case CallKind::Gatherv:
  case CallKind::Scatterv:
  case CallKind::Allgatherv:
  case CallKind::Alltoallv:
  case CallKind::Alltoallw:
  case CallKind::ReduceScatter:
    return nullptr;
  }
  __builtin_unreachable();
}

} // namespace colldsl::mpi
