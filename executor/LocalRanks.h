/// Runs ranks as processes of this machine, for `colldsl run` and for tests.
#pragma once

#include "protocol/Endpoint.h"
#include "transports/shm/World.h"
#include "wireup/ForkedRanks.h"

namespace colldsl {

struct LocalOptions : ForkOptions {
  shm::Options shm;
  /// Connects a rank to the others over the memory that they share; empty: protocol::attach().
  std::function<Result<std::unique_ptr<Endpoint>>(shm::World &, Rank)> attach;
};

/// The work of a rank. Runs in its process; its result travels to the parent.
using RankBody = std::function<Result<std::vector<std::byte>>(Endpoint &)>;

/// Variant of forkRanks() for ranks that are connected over shared memory.
Result<std::vector<RankOutcome>> runLocalRanks(const LocalOptions &options, const RankBody &body);

} // namespace colldsl
