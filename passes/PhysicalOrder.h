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

/// "40 edges of distance 1, 6 of 5, 1 of 6"; counts[d] edges have distance d.
std::string histogramText(const std::vector<uint32_t> &counts);

} // namespace colldsl
