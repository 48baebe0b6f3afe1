#include "mpi/comm/CommTopology.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// If no rank has so many peers on other nodes, there is little to combine and to spread.
constexpr uint32_t kManyFarPeers = 4;

/// The peers on other nodes, once each. Edges are in the order of peers.
std::vector<uint32_t> farPeersOf(const std::vector<Edge> &edges, const CommRanks &ranks) {
  std::vector<uint32_t> peers;
  for (const Edge &edge : edges)
    if (ranks.onNode(edge.peer) == kNoRank &&
        (peers.empty() || peers.back() != static_cast<uint32_t>(edge.peer)))
      peers.push_back(static_cast<uint32_t>(edge.peer));
  return peers;
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
  return static_cast<uint32_t>(std::max(farPeersOf(neighborhood_.out, ranks).size(),
                                        farPeersOf(neighborhood_.in, ranks).size()));
}

bool CommTopology::wantsGraph(uint32_t farPeers) {
  GraphPasses passes = Settings::all().graphPasses();
  return passes != GraphPasses::Never &&
         farPeers >= (passes == GraphPasses::Always ? 1 : kManyFarPeers);
}

void CommTopology::gatherGraph(MPI_Comm comm, const CommRanks &ranks, Communicator &plans,
                               uint32_t farPeers) {
  graph_ = NeighborGraph::gather(ranks.job(), comm, plans, farPeersOf(neighborhood_.out, ranks),
                                 farPeers);
}

} // namespace colldsl::mpi
