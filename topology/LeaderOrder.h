/// The leaders of the groups of a level, in order: the values of `leader` and `leaders` in the
/// language, unless a program demands a rank itself. Without a LeaderOrder the lowest ranks lead.
#pragma once

#include "topology/Topology.h"

namespace colldsl {

struct LeaderOrder {
  /// Per level and rank: a number. In each group the rank with the lowest number leads, the next
  /// one is the second leader; of equal ones the lower rank. Empty: all are equal.
  std::array<std::vector<uint32_t>, kLevels.size()> places;

  uint32_t place(Level level, Rank rank) const {
    const std::vector<uint32_t> &ofRank = places[static_cast<size_t>(level)];
    return index(rank) < ofRank.size() ? ofRank[index(rank)] : 0;
  }
};

} // namespace colldsl
