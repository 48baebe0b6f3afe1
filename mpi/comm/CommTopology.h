/// The topology of a communicator: the neighbours of this rank, and, where many of them sit on
/// other nodes, the graph of all ranks.
#pragma once

#include "mpi/comm/CommRanks.h"
#include "mpi/comm/NeighborGraph.h"
#include "mpi/comm/Neighborhood.h"

namespace colldsl::mpi {

/// Copies share the graph.
class CommTopology {
public:
  CommTopology() = default; ///< there is none
  /// Reads the topology of the communicator; local.
  explicit CommTopology(MPI_Comm comm);

  /// True if there is a topology, and each neighbour is a rank.
  bool hasNeighbors() const { return hasNeighbors_; }
  const Neighborhood &neighborhood() const { return neighborhood_; }
  /// The kind of communicator, for people: "grid", "communicator".
  const char *word() const;

  /// The number of neighbours on other nodes, in the direction that has more.
  uint32_t numFarPeers(const CommRanks &ranks) const;

  /// True if the graph may be worth the cost of gathering it. `farPeers`: the largest such number
  /// of any rank, which all know alike, as Job::Offer has it.
  static bool wantsGraph(uint32_t farPeers);
  /// Collective over `comm`: gathers the graph. `plans`: its ranks as plans see them.
  void gatherGraph(MPI_Comm comm, const CommRanks &ranks, Communicator &plans, uint32_t farPeers);
  /// Null: the messages between nodes stay as they are.
  const std::shared_ptr<NeighborGraph> &graph() const { return graph_; }

private:
  int kind_ = MPI_UNDEFINED;
  bool hasNeighbors_ = false;
  Neighborhood neighborhood_;
  std::shared_ptr<NeighborGraph> graph_;
};

} // namespace colldsl::mpi
