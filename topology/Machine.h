/// The hardware that ranks are placed on: equal nodes, each a list of hardware threads.
#pragma once

#include "topology/Topology.h"

#include <string>

namespace colldsl {

/// The most hardware threads of one description; it is refused if it has more.
inline constexpr uint64_t kMaxPus = uint64_t{1} << 24;

class Machine {
public:
  Machine() = default;

  /// pusOfNode: the threads of one node, in physical order. Ids count from 0 within
  /// the node, threads of one core are neighbours. outer: the levels above the node.
  Machine(uint32_t nodes, std::vector<Place> pusOfNode, std::vector<OuterLevel> outer = {});

  uint32_t nodes() const { return nodes_; }
  uint64_t numPus() const { return uint64_t{nodes_} * pus_.size(); }
  uint32_t coresPerNode() const { return static_cast<uint32_t>(firstPu_.size() - 1); }
  uint64_t numCores() const { return uint64_t{nodes_} * coresPerNode(); }
  const std::vector<Place> &pusOfNode() const { return pus_; }
  const std::vector<OuterLevel> &outerLevels() const { return outer_; }

  uint32_t pusOfCore(uint32_t coreOfNode) const {
    return firstPu_[coreOfNode + 1] - firstPu_[coreOfNode];
  }
  /// Index into pusOfNode() of a core's k-th thread.
  uint32_t puOfCore(uint32_t coreOfNode, uint32_t k) const { return firstPu_[coreOfNode] + k; }

  /// The place of a thread, with ids that are unique in the whole machine.
  Place place(uint32_t node, uint32_t puOfNode) const;

private:
  uint32_t nodes_ = 0;
  std::vector<Place> pus_;
  std::vector<OuterLevel> outer_;
  std::vector<uint32_t> firstPu_{0}; ///< per core of a node, and one more
  Place perNode_;                    ///< the numbers of each in a node
};

/// This machine as far as this process may use it (empty name), or one that hwloc exported
/// as XML.
Result<std::vector<Place>> discoverNode(const std::string &xmlFile);

/// This machine in full.
Result<std::vector<Place>> discoverWholeNode();

} // namespace colldsl
