/// A rank's neighbors, in an order in which both ends of every edge agree.
#pragma once

#include "ir/Result.h"
#include "mpi/Mpi.h"

#include <vector>

namespace colldsl::mpi {

struct Edge {
  int peer; ///< a rank of the communicator, perhaps this one
  int slot; ///< place in the user's buffers, counts and displacements

  bool operator==(const Edge &) const = default;
};

/// One rank's edges. A slot without a peer (MPI_PROC_NULL) has a place in the buffers, which is
/// never accessed, and no edge.
struct Neighborhood {
  /// Sorted by peer. Among edges of one peer the k-th edge out from p to q meets the k-th edge in
  /// of q from p.
  std::vector<Edge> out, in;
  std::vector<int> outWeights; ///< by slot; empty: the edges have none
  int outdegree = 0;           ///< slots, including those without a peer
  int indegree = 0;
  bool hasEqualEdgesToSelf = true; ///< as many out as in
};

/// Reads the Cartesian, graph or distributed graph topology of the communicator; local. An error if
/// it has none, or if a neighbour is not a rank: MPICH makes such graphs.
///
/// Edges meet as MPI-4.1, section 8.6, defines. On a grid a message down one dimension arrives from
/// above, so slot s meets slot s xor 1; this matters if a dimension has one or two places. In
/// graphs the k-th edge of the list to a rank meets the k-th edge of that rank's list from here.
Result<Neighborhood> neighborhoodOf(MPI_Comm comm);

} // namespace colldsl::mpi
