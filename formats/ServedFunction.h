/// The functions of programs that a schedule from a file can serve, by its contract, and the unit
/// in which calls count.
#pragma once

#include "formats/Msccl.h"

namespace colldsl {

struct ServedFunction {
  msccl::Collective collective = msccl::Collective::Custom;
  bool inPlace = false;
  /// Elements that a call counts per element of the schedule's n.
  uint32_t unit = 1;
};

/// The function that the schedule serves for each n: allreduce, allgather, reduce_scatter or
/// alltoall of one input and one output, which are the first buffers; in place, allreduce and
/// allgather only. Reductions are sums, all buffers have one type. An error: there is none, or the
/// schedule writes its input.
Result<ServedFunction> servedFunction(const Schedule &schedule);

/// The collective of MSCCL whose contract a schedule has, with any operator in its reductions.
struct KnownCollective {
  msccl::Collective collective = msccl::Collective::Custom; ///< Custom: none of these
  bool inPlace = false;
  uint32_t root = 0; ///< of a broadcast, a reduce
};

KnownCollective knownCollective(const Schedule &schedule);

} // namespace colldsl
