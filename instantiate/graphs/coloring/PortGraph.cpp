#include "instantiate/graphs/coloring/PortGraph.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace colldsl {

uint32_t highestDegree(const PortGraph &graph) {
  std::vector<uint32_t> degrees(graph.sendPorts + graph.recvPorts, 0);
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    ++degrees[graph.from[e]];
    ++degrees[graph.sendPorts + graph.to[e]];
  }
  return degrees.empty() ? 0 : *std::max_element(degrees.begin(), degrees.end());
}

namespace {

/// True if no receive port has two edges of one round. Edges are sorted by receive port first.
bool recvPortsAgree(const PortGraph &graph, const EdgeColors &colors) {
  std::vector<size_t> end(size_t{graph.recvPorts} + 1, 0);
  for (uint32_t port : graph.to)
    ++end[port + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<uint32_t> rounds(graph.numEdges());
  for (size_t e = 0; e < graph.numEdges(); ++e)
    rounds[end[graph.to[e]]++] = colors.color[e]; // afterwards end[p] is where port p ends
  std::vector<uint32_t> takenBy(colors.rounds, UINT32_MAX);
  size_t i = 0;
  for (uint32_t port = 0; port < graph.recvPorts; ++port)
    for (; i < end[port]; ++i)
      if (std::exchange(takenBy[rounds[i]], port) == port)
        return false;
  return true;
}

} // namespace

std::optional<EdgeColors> colorInOrder(const PortGraph &graph) {
  EdgeColors result{std::vector<uint32_t>(graph.numEdges()), highestDegree(graph)};
  std::vector<uint32_t> next(graph.sendPorts, 0);
  for (size_t e = 0; e < graph.numEdges(); ++e)
    result.color[e] = next[graph.from[e]]++; // no more than the highest degree
  if (!recvPortsAgree(graph, result))
    return std::nullopt;
  return result;
}

} // namespace colldsl
