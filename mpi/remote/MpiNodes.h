/// Nodes: the ranks of the job that share memory through this library.
#pragma once

#include "mpi/Mpi.h"
#include "wireup/Nodes.h"

#include <optional>

namespace colldsl::mpi {

/// The collectives of a communicator, as out-of-band ones of its ranks.
Oob oobOf(MPI_Comm comm);

/// The numbers of ranks that a launcher tells in the environment.
struct NumbersOfRanks {
  uint32_t all, onHost;
};
std::optional<NumbersOfRanks> numbersOfLauncher();

/// The nodes of all ranks, as every rank of MPI_COMM_WORLD knows them.
struct Nodes {
  uint32_t count = 1;
  uint32_t ranksOnMachine = 1; ///< of this rank, including ranks of its other nodes
  std::vector<Rank> placeOf; ///< by rank of MPI_COMM_WORLD, on this rank's node; kNoRank: elsewhere
  std::vector<uint32_t> first; ///< by rank of MPI_COMM_WORLD: the first one of its node
};

/// Collective over MPI_COMM_WORLD. Ranks of one machine are on several nodes if they do not see
/// each other's memory, if the launcher has them on several hosts, or by COLLDSL_RANKS_PER_NODE.
Nodes findNodes();

/// A communicator of the ranks of this rank's node, in the order of MPI_COMM_WORLD, which it is if
/// there is one node.
class NodeComm {
public:
  /// Collective over MPI_COMM_WORLD.
  explicit NodeComm(const Nodes &nodes);
  ~NodeComm();
  NodeComm(const NodeComm &) = delete;
  NodeComm &operator=(const NodeComm &) = delete;

  MPI_Comm comm() const { return comm_; }

private:
  MPI_Comm comm_ = MPI_COMM_WORLD;
};

} // namespace colldsl::mpi
