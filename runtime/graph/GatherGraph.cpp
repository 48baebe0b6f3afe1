#include "runtime/graph/GatherGraph.h"

#include <cstring>
#include <type_traits>

namespace colldsl {
namespace {

using Edge = RankEdges::Edge;
static_assert(std::is_trivially_copyable_v<Edge>);

// The number of out-edges, those, then the in-edges.
std::vector<std::byte> pack(const RankEdges &own) {
  uint64_t outEdges = own.out.size();
  std::vector<std::byte> bytes(sizeof outEdges + (own.out.size() + own.in.size()) * sizeof(Edge));
  std::byte *at = bytes.data();
  std::memcpy(at, &outEdges, sizeof outEdges);
  at += sizeof outEdges;
  for (const std::vector<Edge> *edges : {&own.out, &own.in})
    for (const Edge &edge : *edges) {
      std::memcpy(at, &edge, sizeof edge);
      at += sizeof edge;
    }
  return bytes;
}

Result<RankEdges> unpack(std::span<const std::byte> bytes) {
  uint64_t outEdges = 0;
  if (bytes.size() >= sizeof outEdges)
    std::memcpy(&outEdges, bytes.data(), sizeof outEdges);
  size_t edges = bytes.size() / sizeof(Edge);
  if (bytes.size() != sizeof outEdges + edges * sizeof(Edge) || outEdges > edges)
    return Status::error("a rank's edges came in an unknown form");
  RankEdges all;
  for (size_t i = 0; i < edges; ++i) {
    Edge edge;
    std::memcpy(&edge, bytes.data() + sizeof outEdges + i * sizeof edge, sizeof edge);
    (i < outEdges ? all.out : all.in).push_back(edge);
  }
  return all;
}

} // namespace

Result<GivenGraph> gatherGraph(Communicator &communicator, const GivenGraph &own) {
  Result<std::vector<std::vector<std::byte>>> all = communicator.allgather(pack(own.ranks.front()));
  if (!all)
    return all.status();
  GivenGraph graph;
  for (const std::vector<std::byte> &bytes : *all) {
    Result<RankEdges> one = unpack(bytes);
    if (!one)
      return one.status();
    graph.ranks.push_back(one.take());
  }
  return graph;
}

} // namespace colldsl
