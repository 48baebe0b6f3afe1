#include "instantiate/graphs/coloring/PortGraph.h"

#include "instantiate/graphs/coloring/Rounds.h"

#include <algorithm>
#include <numeric>

namespace colldsl {
namespace {

/// Edges by falling degree of both ports together; those of equal degree in their order.
std::vector<uint32_t> byFallingDegree(const PortGraph &graph) {
  std::vector<uint32_t> sends(graph.sendPorts, 0), recvs(graph.recvPorts, 0);
  for (size_t e = 0; e < graph.numEdges(); ++e) {
    ++sends[graph.from[e]];
    ++recvs[graph.to[e]];
  }
  std::vector<uint32_t> order(graph.numEdges());
  std::iota(order.begin(), order.end(), 0u);
  auto degree = [&](uint32_t e) { return sends[graph.from[e]] + recvs[graph.to[e]]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return degree(a) > degree(b); });
  return order;
}

} // namespace

EdgeColors colorGreedily(const PortGraph &graph) {
  std::vector<RoundSet> sends(graph.sendPorts), recvs(graph.recvPorts);
  EdgeColors result{std::vector<uint32_t>(graph.numEdges()), 0};
  for (uint32_t e : byFallingDegree(graph)) {
    uint32_t round = firstFree(sends[graph.from[e]], recvs[graph.to[e]]);
    insert(sends[graph.from[e]], round);
    insert(recvs[graph.to[e]], round);
    result.color[e] = round;
    result.rounds = std::max(result.rounds, round + 1);
  }
  return result;
}

} // namespace colldsl
