#include "mpi/comm/CommTopology.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// If no rank has so many peers on other nodes, there is little to combine and to spread.
constexpr uint32_t kManyFarPeers = 4;

/// The peers on other nodes, once each, with the weights of the edges to each of them; `weights` by
/// slot, or empty. Edges are in the order of peers.
FarPeers farPeersOf(const std::vector<Edge> &edges, const std::vector<int> &weights,
                    const CommRanks &ranks) {
  FarPeers far;
  far.areWeighted = !weights.empty();
  for (const Edge &edge : edges) {
    if (ranks.onNode(edge.peer) != kNoRank)
      continue;
    if (far.peers.empty() || far.peers.back() != static_cast<uint32_t>(edge.peer)) {
      far.peers.push_back(static_cast<uint32_t>(edge.peer));
      far.weights.push_back(0);
    }
    int weight = far.areWeighted ? std::max(weights[static_cast<size_t>(edge.slot)], 0) : 1;
    uint64_t sum = uint64_t{far.weights.back()} + static_cast<uint32_t>(weight);
    far.weights.back() = static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX));
  }
  return far;
}

} // namespace

CommTopology::CommTopology(MPI_Comm comm) {
  real::Topo_test(comm, &kind_);
  if (kind_ == MPI_UNDEFINED)
    return;
  Result<Neighborhood> neighborhood = neighborhoodOf(comm);
  hasNeighbors_ = neighborhood.ok();
  if (neighborhood)
    neighborhood_ = neighborhood.take();
}

const char *CommTopology::word() const {
  return kind_ == MPI_CART         ? "grid"
         : kind_ == MPI_GRAPH      ? "graph"
         : kind_ == MPI_DIST_GRAPH ? "distributed graph"
                                   : "communicator";
}

uint32_t CommTopology::numFarPeers(const CommRanks &ranks) const {
  return static_cast<uint32_t>(std::max(farPeersOf(neighborhood_.out, {}, ranks).peers.size(),
                                        farPeersOf(neighborhood_.in, {}, ranks).peers.size()));
}

bool CommTopology::wantsGraph(uint32_t farPeers) {
  const Settings &settings = Settings::all();
  bool isAny = settings.graphPasses() == GraphPasses::Always || settings.learnsAlways();
  return settings.graphPasses() != GraphPasses::Never && farPeers >= (isAny ? 1 : kManyFarPeers);
}

void CommTopology::gatherGraph(MPI_Comm comm, const CommRanks &ranks, Communicator &plans,
                               uint32_t farPeers) {
  graph_ = NeighborGraph::gather(ranks.job(), comm, plans,
                                 farPeersOf(neighborhood_.out, neighborhood_.outWeights, ranks),
                                 farPeers);
}

} // namespace colldsl::mpi
