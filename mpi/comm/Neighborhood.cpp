#include "mpi/comm/Neighborhood.h"

#include "ir/Concat.h"
#include "mpi/Real.h"

#include <algorithm>
#include <tuple>

namespace colldsl::mpi {
namespace {

/// Peers by slot, as MPI lists them.
struct Slots {
  std::vector<int> out, in;
};

/// Slots 2d and 2d + 1: down and up dimension d.
Result<Slots> gridSlots(MPI_Comm comm) {
  int rank = 0;
  if (Status s = mpiStatus(real::Cartdim_get(comm, &rank), "MPI_Cartdim_get"); !s)
    return s;
  std::vector<int> peers(2 * static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d)
    if (Status s = mpiStatus(real::Cart_shift(comm, d, 1, &peers[2 * d], &peers[2 * d + 1]),
                             "MPI_Cart_shift");
        !s)
      return s;
  return Slots{peers, peers};
}

Result<Slots> graphSlots(MPI_Comm comm) {
  int self = 0, degree = 0;
  if (Status s = mpiStatus(real::Comm_rank(comm, &self), "MPI_Comm_rank"); !s)
    return s;
  if (Status s =
          mpiStatus(real::Graph_neighbors_count(comm, self, &degree), "MPI_Graph_neighbors_count");
      !s)
    return s;
  std::vector<int> peers(degree);
  if (Status s =
          mpiStatus(real::Graph_neighbors(comm, self, degree, peers.data()), "MPI_Graph_neighbors");
      !s)
    return s;
  return Slots{peers, peers};
}

Result<Slots> distGraphSlots(MPI_Comm comm) {
  int indegree = 0, outdegree = 0, isWeighted = 0;
  if (Status s =
          mpiStatus(real::Dist_graph_neighbors_count(comm, &indegree, &outdegree, &isWeighted),
                    "MPI_Dist_graph_neighbors_count");
      !s)
    return s;
  Slots slots{std::vector<int>(outdegree), std::vector<int>(indegree)};
  std::vector<int> inWeights(indegree), outWeights(outdegree);
  if (Status s =
          mpiStatus(real::Dist_graph_neighbors(comm, indegree, slots.in.data(), inWeights.data(),
                                               outdegree, slots.out.data(), outWeights.data()),
                    "MPI_Dist_graph_neighbors");
      !s)
    return s;
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

Result<Slots> slotsOf(MPI_Comm comm, int topology) {
  if (topology == MPI_CART)
    return gridSlots(comm);
  if (topology == MPI_GRAPH)
    return graphSlots(comm);
  if (topology == MPI_DIST_GRAPH)
    return distGraphSlots(comm);
  return Status::error("a communicator without a topology has no neighbours");
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
  int topology = MPI_UNDEFINED;
  if (Status s = mpiStatus(real::Topo_test(comm, &topology), "MPI_Topo_test"); !s)
    return s;
  Result<Slots> slots = slotsOf(comm, topology);
  if (!slots)
    return slots.status();
  Neighborhood known{edgesOf(slots->out, 0), edgesOf(slots->in, topology == MPI_CART ? 1 : 0),
                     static_cast<int>(slots->out.size()), static_cast<int>(slots->in.size())};
  int self = 0, ranks = 0;
  if (Status s = mpiStatus(real::Comm_rank(comm, &self), "MPI_Comm_rank"); !s)
    return s;
  if (Status s = mpiStatus(real::Comm_size(comm, &ranks), "MPI_Comm_size"); !s)
    return s;
  for (const std::vector<Edge> *edges : {&known.out, &known.in})
    if (Status s = checkPeers(*edges, ranks); !s)
      return s;
  known.hasEqualEdgesToSelf = numEdgesTo(self, known.out) == numEdgesTo(self, known.in);
  return known;
}

} // namespace colldsl::mpi
