/// Runs ranks as processes of this machine, for `colldsl run` and for tests.
#pragma once

#include "runtime/job/WireUp.h"
#include "wireup/ForkedRanks.h"

#include <future>

namespace colldsl {

/// Connects a rank to the others, which share the world's memory.
using AttachRank = std::function<Result<std::unique_ptr<Endpoint>>(shm::World &, Rank)>;

struct LocalOptions : ForkOptions {
  shm::Options shm;
  AttachRank attach; ///< empty: over that memory
};

/// For LocalOptions::attach: over this network alone, found by means of the memory. An error: the
/// environment has wrong options.
Result<AttachRank> attachOver(const Network &network);

/// Begins to load the libraries of the network; not valid: there are none.
std::shared_future<void> prepareNetwork(const Network &network);

/// True if some of so many ranks of this machine share a core.
bool shareCores(uint32_t numRanks);

/// The work of a rank. Runs in its process; its result travels to the parent.
using RankBody = std::function<Result<std::vector<std::byte>>(Endpoint &)>;

/// Variant of forkRanks() for ranks that are connected over shared memory.
Result<std::vector<RankOutcome>> runLocalRanks(const LocalOptions &options, const RankBody &body);

} // namespace colldsl
