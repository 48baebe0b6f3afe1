/// Values of parameters that come from the process that asks for a schedule, not from a
/// text.
#pragma once

#include "ir/Ids.h"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace colldsl {

/// The edges of one rank, in the order of their slots.
struct RankEdges {
  struct Edge {
    int64_t peer = 0; ///< kNone: leads nowhere, but keeps its slot
    int64_t key =
        0; ///< the k-th out-edge a -> b with a key is the k-th in-edge on b from a with it
    int64_t weight = 1;
  };
  std::vector<Edge> out, in;
};

/// A graph as its caller knows it: the edges of some ranks in a row, often of one only.
struct GivenGraph {
  uint32_t firstRank = 0;
  std::vector<RankEdges> ranks;
};

/// A tree of all ranks of the job.
struct GivenTree {
  Rank root{0};
  std::vector<Rank> parent;                ///< kNoRank: the root
  std::vector<std::vector<Rank>> children; ///< in the order in which they are told

  explicit GivenTree(uint32_t ranks) : parent(ranks, kNoRank), children(ranks) {}
  void connect(Rank above, Rank below) {
    parent[index(below)] = above;
    children[index(above)].push_back(below);
  }
};

/// Nothing; a number (Int, Bool, Rank, Bytes in bytes, Time in nanoseconds, Reduction by its
/// number); a list; a graph, which outlives the value; a tree.
using GivenValue = std::variant<std::monostate, int64_t, std::vector<int64_t>, const GivenGraph *,
                                std::shared_ptr<const GivenTree>>;

} // namespace colldsl
