/// How processes of one machine that nobody forked together come to share a transport: over
/// whatever their launcher offers.
#pragma once

#include "transports/shm/World.h"

#include <functional>

namespace colldsl {

/// What a launcher offers its processes. All calls are collective over all ranks. If one
/// fails, wiring up fails on this rank, and on the others once they have waited in vain.
struct OutOfBand {
  uint32_t rank = 0;
  uint32_t numRanks = 1;
  /// `bytes` bytes of each rank to everyone, in the order of the ranks.
  std::function<Status(const void *mine, void *all, size_t bytes)> allgather;
  std::function<Status()> barrier; ///< may be empty
};

struct WiredUp {
  std::unique_ptr<shm::World> world;
  std::unique_ptr<Endpoint> endpoint; ///< destroyed before the world
  std::vector<uint32_t> pus;          ///< per rank: the hardware thread it is taken to run on
};

/// Collective. The memory that the ranks share, in which all have told their process ids; no
/// endpoint. Refuses ranks that disagree about their number or sit on different machines,
/// on all ranks and for the same reason; `own`, if it is an error, is one. Leaves nothing
/// behind, whatever happens.
Result<WiredUp> shareMemory(const OutOfBand &launcher, const shm::Options &options,
                            const Status &own = {});

/// Collective: by rank, the first one that it can share memory with. Ranks see each other's memory
/// if they are on one machine and in one namespace of processes.
Result<std::vector<uint32_t>> whoSharesMemory(const OutOfBand &launcher);

/// shareMemory(), and this rank attached to it.
Result<WiredUp> wireUp(const OutOfBand &launcher, const shm::Options &options,
                       const Status &own = {});

/// One hardware thread per rank, of those it may use the one that the fewest ranks before it
/// have: ranks without a binding are spread. `allowed`: per rank, ascending, not empty.
std::vector<uint32_t> spreadRanks(std::span<const std::vector<uint32_t>> allowed);

/// The hardware threads that this process may use, ascending.
std::vector<uint32_t> allowedPus();

} // namespace colldsl
