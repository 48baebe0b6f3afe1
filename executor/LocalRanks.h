/// Runs ranks as processes of this machine, for `colldsl run` and for tests.
#pragma once

#include "protocol/Endpoint.h"
#include "transports/shm/World.h"
#include "wireup/ForkedRanks.h"

namespace colldsl {

struct LocalOptions : ForkOptions {
  shm::Options shm;
  /// How a rank joins the others over the memory that they share; empty: protocol::attach().
  std::function<Result<std::unique_ptr<Endpoint>>(shm::World &, Rank)> attach;
};

/// What a rank does. Runs in its process; what it returns travels to the parent.
using RankBody = std::function<Result<std::vector<std::byte>>(Endpoint &)>;

/// forkRanks() of ranks that are connected over shared memory.
Result<std::vector<RankOutcome>> runLocalRanks(const LocalOptions &options, const RankBody &body);

} // namespace colldsl
