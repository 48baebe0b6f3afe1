#include "select/Situation.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl {

Situation Situation::on(const Topology &topology, bool sharesCores) {
  Situation s;
  s.ranks = topology.numRanks();
  s.nodes = topology.numGroups(Level::Node);
  for (uint32_t node = 0; node < s.nodes; ++node) {
    auto ranks = static_cast<uint32_t>(topology.members(Level::Node, node).size());
    s.perNode = std::max(s.perNode, ranks);
  }
  s.oversubscribed = s.nodes == 1 && sharesCores;
  return s;
}

std::string Situation::words() const {
  return concat(ranks, ranks == 1 ? " rank on " : " ranks on ", nodes,
                nodes == 1 ? " node, " : " nodes, ", bytes, " bytes of ", spelling(type),
                commutative ? "" : ", an operator that does not commute",
                oversubscribed ? ", fewer cores than ranks" : "", multicast ? ", multicast" : "",
                tcp ? ", TCP" : "");
}

bool commutes(std::optional<Reduction> op) { return !op || isCommutative(*op); }

} // namespace colldsl
