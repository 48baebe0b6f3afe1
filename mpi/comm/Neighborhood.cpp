#include "mpi/comm/Neighborhood.h"

#include "ir/Concat.h"
#include "mpi/Real.h"

#include <algorithm>
#include <tuple>

namespace colldsl::mpi {
namespace {

/// Calls of the MPI below, up to the first one that fails.
class Questions {
public:
  template <typename... Parameters, typename... Passed>
  void ask(const char *name, int (*function)(Parameters...), Passed... passed) {
    if (status_)
      status_ = mpiStatus(function(passed...), name);
  }
  const Status &status() const { return status_; }

private:
  Status status_;
};

/// Peers by slot, as MPI lists them.
struct Slots {
  std::vector<int> out, in;
  std::vector<int> outWeights = {}; ///< empty: there are none
};

/// Slots 2d and 2d + 1: down and up dimension d.
Slots gridSlots(Questions &mpi, MPI_Comm comm) {
  int rank = 0;
  mpi.ask("MPI_Cartdim_get", real::Cartdim_get, comm, &rank);
  std::vector<int> peers(2 * static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d)
    mpi.ask("MPI_Cart_shift", real::Cart_shift, comm, d, 1, &peers[2 * d], &peers[2 * d + 1]);
  return {peers, peers};
}

Slots graphSlots(Questions &mpi, MPI_Comm comm, int self) {
  int degree = 0;
  mpi.ask("MPI_Graph_neighbors_count", real::Graph_neighbors_count, comm, self, &degree);
  std::vector<int> peers(degree);
  mpi.ask("MPI_Graph_neighbors", real::Graph_neighbors, comm, self, degree, peers.data());
  return {peers, peers};
}

Slots distGraphSlots(Questions &mpi, MPI_Comm comm) {
  int indegree = 0, outdegree = 0, isWeighted = 0;
  mpi.ask("MPI_Dist_graph_neighbors_count", real::Dist_graph_neighbors_count, comm, &indegree,
          &outdegree, &isWeighted);
  Slots slots{std::vector<int>(outdegree), std::vector<int>(indegree)};
  std::vector<int> inWeights(indegree), outWeights(outdegree);
  mpi.ask("MPI_Dist_graph_neighbors", real::Dist_graph_neighbors, comm, indegree, slots.in.data(),
          inWeights.data(), outdegree, slots.out.data(), outWeights.data());
  if (isWeighted)
    slots.outWeights = std::move(outWeights);
  return slots;
}

/// Edges by peer, then by slot xor `flip`.
std::vector<Edge> edgesOf(const std::vector<int> &peers, int flip) {
  std::vector<Edge> edges;
  for (size_t slot = 0; slot < peers.size(); ++slot)
    if (peers[slot] != MPI_PROC_NULL)
      edges.push_back({peers[slot], static_cast<int>(slot)});
  std::sort(edges.begin(), edges.end(), [flip](const Edge &a, const Edge &b) {
    return std::tuple(a.peer, a.slot ^ flip) < std::tuple(b.peer, b.slot ^ flip);
  });
  return edges;
}

size_t numEdgesTo(int rank, const std::vector<Edge> &edges) {
  return static_cast<size_t>(std::count_if(edges.begin(), edges.end(),
                                           [&](const Edge &edge) { return edge.peer == rank; }));
}

Status checkPeers(const std::vector<Edge> &edges, int ranks) {
  for (const Edge &edge : edges)
    if (edge.peer < 0 || edge.peer >= ranks)
      return Status::error(concat("a neighbour is rank ", edge.peer, " of ", ranks));
  return {};
}

} // namespace

Result<Neighborhood> neighborhoodOf(MPI_Comm comm) {
  Questions mpi;
  int topology = MPI_UNDEFINED, self = 0, ranks = 0;
  mpi.ask("MPI_Topo_test", real::Topo_test, comm, &topology);
  mpi.ask("MPI_Comm_rank", real::Comm_rank, comm, &self);
  mpi.ask("MPI_Comm_size", real::Comm_size, comm, &ranks);
  if (mpi.status() && topology == MPI_UNDEFINED)
    return Status::error("a communicator without a topology has no neighbours");
  Slots slots = topology == MPI_CART    ? gridSlots(mpi, comm)
                : topology == MPI_GRAPH ? graphSlots(mpi, comm, self)
                                        : distGraphSlots(mpi, comm);
  if (!mpi.status())
    return mpi.status();
  Neighborhood known{edgesOf(slots.out, 0), edgesOf(slots.in, topology == MPI_CART ? 1 : 0),
                     std::move(slots.outWeights), static_cast<int>(slots.out.size()),
                     static_cast<int>(slots.in.size())};
  for (const std::vector<Edge> *edges : {&known.out, &known.in})
    if (Status s = checkPeers(*edges, ranks); !s)
      return s;
  known.hasEqualEdgesToSelf = numEdgesTo(self, known.out) == numEdgesTo(self, known.in);
  return known;
}

} // namespace colldsl::mpi
