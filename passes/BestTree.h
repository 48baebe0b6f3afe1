/// The trees in which the last of n ranks has what it needs as early as it can, in the LogGP
/// model: to broadcast, one message along each edge; to scatter, one block for each rank below.
///
/// The first message of the root parts n ranks into those below its receiver and those that are
/// left to the root; both parts are best trees again.
/// Example: o = g = 1, L = 2, no G: 0 sends to 1 at time 0, which has it at 4; 0 sends to 2, 3
/// and 4 meanwhile.
/// Bound: broadcast n log n; scatter n * 4096. Every tree has such a first message, so none is
/// faster.
/// Source: R. Karp, A. Sahay, E. Santos, K. Schauser, "Optimal broadcast and summation in the
/// LogP model", 1993; A. Alexandrov et al., "LogGP", 1995
#pragma once

#include "topology/MachineModel.h"

#include <span>

namespace colldsl {

enum class TreeUse : uint8_t { Broadcast, Scatter };

class BestTree {
public:
  /// For 1 to `ranks` ranks, `bytes` for each of them.
  BestTree(const LogGop &model, TreeUse use, uint32_t ranks, uint64_t bytes);

  /// The time in ns at which all of `ranks` ranks have what they need.
  uint64_t timeNs(uint32_t ranks) const { return time_[ranks]; }

  /// Place i is a rank; 0 is the root; a subtree is a run of places.
  struct Edge {
    uint32_t parent, child;
    uint32_t below;   ///< places in the child's subtree
    uint64_t startNs; ///< of the message
  };
  /// Ascending in time.
  std::vector<Edge> edges() const;

private:
  uint64_t bytesTo(uint32_t below) const;
  uint64_t timeWith(uint32_t ranks, uint32_t below) const;
  uint32_t bestSplit(uint32_t ranks) const;

  LogGop model_;
  TreeUse use_;
  uint64_t bytes_;
  std::vector<uint64_t> time_;  ///< by number of ranks
  std::vector<uint32_t> below_; ///< of the first message's receiver, with itself
};

} // namespace colldsl
