/// A rank's neighbors, in an order in which both ends of every edge agree.
#pragma once

#include "ir/Result.h"
#include "mpi/Mpi.h"

#include <vector>

namespace colldsl::mpi {

struct Edge {
  int peer; ///< a rank of the communicator; this one too
  int slot; ///< place in the user's buffers, counts and displacements

  bool operator==(const Edge &) const = default;
};

/// One rank's edges. Slots without a peer (MPI_PROC_NULL) have a place in the buffers, which is not
/// touched, and no edge.
struct Neighborhood {
  /// By peer. Among those of one peer: the k-th edge out from p to q meets the k-th edge in of q
  /// from p.
  std::vector<Edge> out, in;
  int outdegree = 0; ///< slots, those without a peer too
  int indegree = 0;
  bool hasEqualEdgesToSelf = true; ///< as many out as in
};

/// Asks the communicator, which has a Cartesian, graph or distributed graph topology; local. An
/// error where it has none, or where a neighbour is no rank: MPICH makes such graphs.
///
/// Which edges meet (MPI-4.1, section 8.6): on a grid what goes down one dimension comes in from
/// above, so slot s meets slot s xor 1; it shows where a dimension has one or two places. In graphs
/// the k-th edge of the list to a rank meets the k-th edge of that rank's list from here.
Result<Neighborhood> neighborhoodOf(MPI_Comm comm);

} // namespace colldsl::mpi
