/// Ranks that run plans together, as one of them sees it.
#pragma once

#include "executor/Engine.h"
#include "runtime/WireUp.h"
#include "topology/Topology.h"

namespace colldsl {

/// Thread safe, but for the order in which plans are opened. Outlives its plans.
class Communicator {
public:
  /// The endpoint outlives it.
  Communicator(Endpoint &endpoint, Topology topology)
      : engine_(endpoint), topology_(std::move(topology)) {}
  Communicator(WiredUp wired, Topology topology)
      : wired_(std::move(wired)), engine_(*wired_.endpoint), topology_(std::move(topology)) {}

  Rank rank() const { return engine_.endpoint().rank(); }
  uint32_t numRanks() const { return engine_.endpoint().numRanks(); }
  const Topology &topology() const { return topology_; }
  Engine &engine() { return engine_; }

  /// What every rank contributes, in the order of the ranks. Collective; off the fast path:
  /// each rank sends to all others.
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine);

private:
  WiredUp wired_;
  Engine engine_;
  Topology topology_;
};

} // namespace colldsl
