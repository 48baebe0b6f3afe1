/// The difference between the operands that a reduction found and those that it promised, and the
/// ops that brought the surplus ones.
#pragma once

#include "verifier/SymbolicValues.h"

namespace colldsl::proof {

struct LeafDifference {
  std::vector<Leaf> doubled; ///< promised, but found more often
  std::vector<Leaf> missing; ///< found less often than promised
  std::vector<Leaf> foreign; ///< found, not promised at all
};

/// Orders do not matter; each leaf is named once.
LeafDifference compareLeaves(std::vector<Leaf> found, std::vector<Leaf> promised);

/// The first op that combined two values which both hold the leaf, in the tree at `root`;
/// kNoVertex if none did.
Vertex bringerOfSecond(const Values &values, NodeId root, const Leaf &leaf);

} // namespace colldsl::proof
