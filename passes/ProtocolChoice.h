/// Protocol: chooses for each message how it travels. Short ones go eagerly, at the price of one
/// more copy; how short depends on the distance. Long ones wait for their receiver, or, where
/// buffers are the same in every call, are put to a place that the receiver names once and for all.
/// Where receivers come late by `skew`, a waiting sender loses that much, so a message is eager if
/// its copy takes less time.
///
/// example: eager=32KiBx2KiBx1KiBx8KiB: 4 KiB go eagerly to a core that shares a cache, and by
/// rendezvous to another socket
/// bound: one step per message
/// source: L. Chai, A. Hartono, D. Panda, "Designing high performance and scalable MPI intra-node
/// communication support for clusters", 2006; T. Hoefler, T. Schneider, "Optimization principles
/// for collective neighborhood communications", SC 2012
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct ProtocolChoice {
  std::vector<uint32_t> eager{32 << 10, 2 << 10, 1 << 10, 8 << 10};
  bool isStatic = false;
  uint64_t skewNs = 0;

  void describe(PassOptions &options);
};

Result<DagOutcome> chooseProtocols(Schedule schedule, const ProtocolChoice &options,
                                   const DagContext &context);

} // namespace colldsl
