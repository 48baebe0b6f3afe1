/// Canary RTE (ready to exit): the receiver of a static message writes a constant into the last
/// bytes of its target before it reports that it is ready, and has the message as soon as these
/// bytes differ. If the payload itself ends in the constant, the sender also sets a flag behind the
/// data. The pass applies only where a transport commits bytes in order, and only up to the size
/// for which it does.
///
/// example: 8 bytes written by RDMA: one write, and a second one for the flag only in one of 2^32
/// cases
/// bound: one step per message
/// source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood
/// communications", SC 2012, II.C.3
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct CanaryRte {
  uint64_t most = 64;

  void describe(PassOptions &options);
};

Result<DagOutcome> addCanaries(Schedule schedule, const CanaryRte &options,
                               const DagContext &context);

} // namespace colldsl
