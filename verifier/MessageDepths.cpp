#include "verifier/MessageDepths.h"

#include <algorithm>

namespace colldsl::proof {

std::vector<uint32_t> messageDepths(const EventGraph &graph, std::span<const Event> order) {
  std::vector<uint32_t> depth(graph.numEvents());
  for (Event e : order)
    graph.forEachSuccessor(e, Rules::HappensBefore, [&](Event next) {
      bool crosses = graph.partnerOf(vertexOf(e)) == vertexOf(next);
      depth[index(next)] = std::max(depth[index(next)], depth[index(e)] + crosses);
    });
  std::vector<uint32_t> ofVertex(graph.model().numVertices());
  for (uint32_t i = 0; i < ofVertex.size(); ++i) {
    Vertex v{i};
    bool sends = graph.sends(v) && exists(graph.partnerOf(v));
    ofVertex[i] = sends ? depth[index(startOf(v))] + 1 : depth[index(finishOf(v))];
  }
  return ofVertex;
}

} // namespace colldsl::proof
