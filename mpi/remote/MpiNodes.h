/// Nodes: the ranks of the job that share memory through this library.
#pragma once

#include "mpi/Mpi.h"
#include "wireup/Nodes.h"

namespace colldsl::mpi {

/// The collectives of a communicator, as out-of-band ones of its ranks.
Oob oobOf(MPI_Comm comm);

/// This rank's node.
struct Node {
  MPI_Comm comm = MPI_COMM_NULL; ///< its ranks, in the order of MPI_COMM_WORLD
  uint32_t ranksOnMachine = 1;   ///< including ranks of its other nodes
};

/// Collective over MPI_COMM_WORLD. Ranks of one machine are on several nodes if they do not see
/// each other's memory, or by COLLDSL_RANKS_PER_NODE.
Node makeNode();

/// The nodes of all ranks, as every rank of MPI_COMM_WORLD knows them.
struct Nodes {
  uint32_t count = 1;
  std::vector<Rank> placeOf; ///< by rank of MPI_COMM_WORLD, on this rank's node; kNoRank: elsewhere
  std::vector<uint32_t> first; ///< by rank of MPI_COMM_WORLD: the first one of its node
};

/// Collective over MPI_COMM_WORLD.
Nodes knowNodes(MPI_Comm node);

} // namespace colldsl::mpi
