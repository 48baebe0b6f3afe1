#include "passes/coloring/PortGraph.h"

#include <algorithm>
#include <unordered_set>

namespace colldsl {

uint32_t highestDegree(const PortGraph &graph) {
  std::vector<uint32_t> degrees(graph.sendPorts + graph.recvPorts, 0);
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    ++degrees[graph.from[e]];
    ++degrees[graph.sendPorts + graph.to[e]];
  }
  return degrees.empty() ? 0 : *std::max_element(degrees.begin(), degrees.end());
}

std::optional<EdgeColors> colorInOrder(const PortGraph &graph) {
  EdgeColors result{std::vector<uint32_t>(graph.numEdges()), highestDegree(graph)};
  std::vector<uint32_t> next(graph.sendPorts, 0);
  std::unordered_set<uint64_t> taken; // receive port and round
  taken.reserve(graph.numEdges());
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    result.color[e] = next[graph.from[e]]++;
    if (!taken.insert(uint64_t{graph.to[e]} << 32 | result.color[e]).second)
      return std::nullopt;
  }
  return result; // no send port has more edges than the highest degree
}

} // namespace colldsl
