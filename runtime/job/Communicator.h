/// Ranks that run plans together, as one of them sees it.
#pragma once

#include "executor/Engine.h"
#include "ir/Dag.h"
#include "runtime/job/WireUp.h"
#include "topology/Topology.h"

namespace colldsl {

/// Thread safe, except that all ranks must open plans in one order. Outlives its plans.
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

  // Collective, and off the fast path: each rank sends to all others.

  /// The contributions of all ranks, in the order of the ranks.
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine);

  /// Variant of allgather() for contributions whose lengths all ranks know: that of rank r ends at
  /// ends[r] of `all`.
  Status allgather(std::span<const std::byte> mine, std::span<const uint64_t> ends, void *all);

  /// Variant of allgather() for one value of each rank; the bytes of T are its whole content.
  template <typename T> Result<std::vector<T>> allgatherOne(const T &mine) {
    std::vector<uint64_t> ends(numRanks());
    for (size_t r = 0; r < ends.size(); ++r)
      ends[r] = (r + 1) * sizeof(T);
    std::vector<T> all(numRanks());
    Status s = allgather(std::as_bytes(std::span(&mine, 1)), ends, all.data());
    if (!s)
      return s;
    return all;
  }

  // Collective, and off the fast path: a plan for one run.

  /// Sends words along the edges of a graph of which each rank knows its own: `wordsPerEdge` along
  /// each edge, for the edges in `to` one after the other. Returns the words of the edges in
  /// `from`, in their order. The k-th of parallel edges that leaves a rank is the k-th that
  /// arrives. An error on all ranks, if one expects a word that no rank sends.
  Result<std::vector<uint64_t>> exchange(std::span<const Rank> to, std::span<const Rank> from,
                                         std::span<const uint64_t> words, size_t wordsPerEdge);

private:
  Status runOnce(Dag dag, std::span<const std::byte> from, std::span<std::byte> to);

  WiredUp wired_;
  Engine engine_;
  Topology topology_;
};

} // namespace colldsl
