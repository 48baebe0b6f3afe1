/// Edge coloring where no rank has the whole graph: a rank knows its own edges and what its
/// neighbors send it.
///
/// The send ports of a rank and the receive ports of others are two sides already, so no symmetry
/// has to be broken and no identifiers be reduced: in turn i each rank queries along its i-th
/// out-edge, with the rounds that its send port has taken, and the queried rank gives each edge
/// that a query came along the first round that is free at both ports.
/// Example: ranks 1, 2 and 3 all send to 0: they query in turn 0, and get rounds 0, 1 and 2.
/// Bound: an edge gets a round below d(send port) + d(receive port) - 1, so at most 2 d - 1
/// rounds; 2 d steps of messages for the highest outdegree d, for any number of ranks.
/// Source: greedy coloring after A. Panconesi, R. Rizzi, "Some simple distributed algorithms for
/// sparse networks", 2001, without their forests, which two-sided graphs do not need
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace colldsl {

/// One rank's part. The caller moves its queries and replies; the steps of all ranks go
/// together: query, reply, take, query, ...
class RankColoring {
public:
  /// The numbers of out-edges and in-edges that this rank has.
  RankColoring(uint32_t outDegree, uint32_t inDegree)
      : outColor_(outDegree, kNoColor), inColor_(inDegree, kNoColor) {}

  struct Query {
    uint32_t outEdge;            ///< at the querying rank
    std::vector<uint64_t> taken; ///< a bit for each round that the send port has taken
  };

  static constexpr uint32_t kNoColor = UINT32_MAX;

  /// Turns in which this rank has a query.
  uint32_t numTurns() const { return static_cast<uint32_t>(outColor_.size()); }

  /// The query along the out-edge of that number in this turn, turn < numTurns().
  Query query(uint32_t turn) const { return {turn, takenBySends_}; }

  /// The round of in-edge `inEdge`, about which the query came. Queries of one turn are
  /// answered in the order of their in-edges, so that all runs give the same rounds.
  uint32_t reply(uint32_t inEdge, const Query &query);

  /// The reply to the query along that out-edge.
  void take(uint32_t outEdge, uint32_t color);

  std::span<const uint32_t> outColors() const { return outColor_; }
  std::span<const uint32_t> inColors() const { return inColor_; }

private:
  std::vector<uint32_t> outColor_, inColor_;
  std::vector<uint64_t> takenBySends_, takenByRecvs_;
};

} // namespace colldsl
