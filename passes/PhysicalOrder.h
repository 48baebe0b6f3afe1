/// Ranks in the order of the cores that they sit on: group after group of each level of the
/// machine, and how close each is to the one before. It does not depend on which rank sits where.
#pragma once

#include "topology/Topology.h"

#include <string>

namespace colldsl {

struct PhysicalOrder {
  std::vector<Rank> ranks;
  /// Per place: the distance class of the group that its rank and the one before have in
  /// common, 1 to kMaxDistance. The first has kMaxDistance + 1.
  std::vector<uint8_t> step;
};

/// Bound: P log P.
PhysicalOrder physicalOrder(const Topology &topology);

/// A tree of all ranks.
struct RankTree {
  Rank root{0};
  std::vector<Rank> parent;                ///< kNoRank: the root
  std::vector<std::vector<Rank>> children; ///< in the order in which they are told

  explicit RankTree(uint32_t ranks) : parent(ranks, kNoRank), children(ranks) {}
  void connect(Rank above, Rank below) {
    parent[index(below)] = above;
    children[index(above)].push_back(below);
  }
};

/// "40 edges of distance 1, 6 of 5, 1 of 6"; counts[d] are those of distance d.
std::string histogramText(const std::vector<uint32_t> &counts);

/// `listed(...)` of the standard library: this tree in the language.
std::string expressionOf(const RankTree &tree);

} // namespace colldsl
