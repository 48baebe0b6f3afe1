#include "passes/coloring/PortGraph.h"

#include <algorithm>

namespace colldsl {

uint32_t highestDegree(const PortGraph &graph) {
  std::vector<uint32_t> degrees(graph.sendPorts + graph.recvPorts, 0);
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    ++degrees[graph.from[e]];
    ++degrees[graph.sendPorts + graph.to[e]];
  }
  return degrees.empty() ? 0 : *std::max_element(degrees.begin(), degrees.end());
}

} // namespace colldsl
