// The matching rule (MPI 4.1, 8.6). Cartesian: slots 2d and 2d+1 are the negative and the positive
// neighbour in dimension d, and a block sent from slot s lands in slot s xor 1 of its peer. Graphs:
// the k-th edge to a rank in the list of one side meets the k-th edge from it in the other's.
#include "tests/mpi/Topologies.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace conformance {

Topology::Topology(Topology &&other) noexcept
    : comm(std::exchange(other.comm, MPI_COMM_NULL)),
      oracle(std::exchange(other.oracle, MPI_COMM_NULL)), name(std::move(other.name)),
      features(other.features), in(std::move(other.in)), out(std::move(other.out)) {}

Topology::~Topology() {
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  if (oracle != MPI_COMM_NULL)
    MPI_Comm_free(&oracle);
}

namespace {

int worldSize() {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int worldRank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int makeCartesian(Topology &t, Random &random) {
  int left = worldSize();
  std::vector<int> sizes(random.between(1, 4)), periodic(sizes.size());
  t.name = "cart ";
  for (size_t d = 0; d < sizes.size(); ++d) {
    int most = sizes.size() == 1 ? left : std::min(left, 3);
    sizes[d] = sizes.size() == 1 && random.oneIn(2) ? most : random.between(1, most);
    left /= sizes[d];
    periodic[d] = !random.oneIn(3);
    t.name += (d ? "x" : "") + std::to_string(sizes[d]) + (periodic[d] ? "p" : "");
  }
  return MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(sizes.size()), sizes.data(),
                         periodic.data(), random.oneIn(2), &t.comm);
}

// How many edges lead from p to q, the same on all ranks.
using EdgeCounts = std::vector<std::vector<int>>;

EdgeCounts drawEdges(int size, bool symmetric, Random &random) {
  EdgeCounts edges(size, std::vector<int>(size));
  bool several = random.oneIn(3), selfEdges = random.oneIn(2);
  uint32_t sparseness = random.between(1, 3);
  for (int p = 0; p < size; ++p)
    for (int q = 0; q < size; ++q)
      if ((p != q || selfEdges) && random.oneIn(sparseness))
        edges[p][q] = several ? random.between(1, 3) : 1;
  for (int p = 0; symmetric && p < size; ++p)
    for (int q = 0; q < p; ++q)
      edges[p][q] = edges[q][p];
  return edges;
}

// A rank's neighbours with their multiplicity, in an order of the rank's own.
std::vector<int> neighborsOf(const EdgeCounts &edges, int rank, bool incoming, Random order) {
  std::vector<int> neighbors;
  for (int peer = 0; peer < static_cast<int>(edges.size()); ++peer)
    neighbors.insert(neighbors.end(), incoming ? edges[peer][rank] : edges[rank][peer], peer);
  order.shuffle(neighbors);
  return neighbors;
}

int makeGraph(Topology &t, Random &random) {
  int size = random.oneIn(4) ? random.between(1, worldSize()) : worldSize();
  EdgeCounts edges = drawEdges(size, true, random);
  std::vector<int> index, all;
  for (int rank = 0; rank < size; ++rank) {
    std::vector<int> mine = neighborsOf(edges, rank, false, Random({random.next()}));
    all.insert(all.end(), mine.begin(), mine.end());
    index.push_back(static_cast<int>(all.size()));
  }
  all.push_back(0); // the MPIs refuse a null pointer, even to no edges
  t.name = "graph of " + std::to_string(size);
  return MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), all.data(), random.oneIn(2), &t.comm);
}

int makeAdjacent(Topology &t, const EdgeCounts &edges, Random &random) {
  uint64_t key = random.next();
  uint64_t rank = worldRank();
  std::vector<int> sources = neighborsOf(edges, worldRank(), true, Random({key, rank, 0}));
  std::vector<int> targets = neighborsOf(edges, worldRank(), false, Random({key, rank, 1}));
  bool weighted = random.oneIn(2);
  std::vector<int> weights(std::max(sources.size(), targets.size()) + 1, 1);
  auto weightsOf = [&](const std::vector<int> &list) {
    if (!weighted)
      return MPI_UNWEIGHTED;
    return list.empty() ? MPI_WEIGHTS_EMPTY : weights.data();
  };
  t.name = weighted ? "weighted adjacent dist_graph" : "adjacent dist_graph";
  return MPI_Dist_graph_create_adjacent(
      MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), weightsOf(sources),
      static_cast<int>(targets.size()), targets.data(), weightsOf(targets), MPI_INFO_NULL,
      random.oneIn(2), &t.comm);
}

// Every edge is told by some rank, not by one of its own.
int makeGeneral(Topology &t, const EdgeCounts &edges, Random &random) {
  std::vector<int> sources, degrees, targets;
  int size = worldSize();
  for (int p = 0; p < size; ++p)
    for (int q = 0; q < size; ++q)
      for (int k = 0; k < edges[p][q]; ++k)
        if (random.between(0, size - 1) == worldRank()) {
          sources.push_back(p);
          degrees.push_back(1);
          targets.push_back(q);
        }
  bool weighted = random.oneIn(2);
  std::vector<int> weights(targets.size() + 1, 1);
  int *given = !weighted ? MPI_UNWEIGHTED : targets.empty() ? MPI_WEIGHTS_EMPTY : weights.data();
  t.name = weighted ? "weighted general dist_graph" : "general dist_graph";
  return MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                               degrees.data(), targets.data(), given, MPI_INFO_NULL,
                               random.oneIn(2), &t.comm);
}

int makeDistGraph(Topology &t, Random &random) {
  EdgeCounts edges = drawEdges(worldSize(), false, random);
  return random.oneIn(2) ? makeAdjacent(t, edges, random) : makeGeneral(t, edges, random);
}

// Some dimensions of a grid. Both are collective over the ranks in it.
void takePart(Topology &t, Random &random) {
  int dims;
  MPI_Cartdim_get(t.comm, &dims);
  std::vector<int> kept(dims);
  kept[random.below(dims)] = 1;
  for (int &keep : kept)
    keep |= random.oneIn(2);
  MPI_Comm part;
  MPI_Cart_sub(t.comm, kept.data(), &part);
  MPI_Comm_free(&t.comm);
  t.comm = part;
}

void takeDuplicate(Topology &t, Random &random) {
  MPI_Comm copy;
  if (random.oneIn(2)) {
    MPI_Request request;
    MPI_Comm_idup(t.comm, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Comm_dup(t.comm, &copy);
  }
  if (random.oneIn(2))
    MPI_Comm_free(&t.comm);
  else
    MPI_Comm_disconnect(&t.comm);
  t.comm = copy;
}

void derive(Topology &t, Random &random) {
  if (t.features.kind == TopologyKind::Cartesian && random.oneIn(2)) {
    t.name = "part of " + t.name;
    takePart(t, random);
  } else {
    t.name = "duplicate of " + t.name;
    takeDuplicate(t, random);
  }
}

void readCartesian(Topology &t) {
  int dims;
  MPI_Cartdim_get(t.comm, &dims);
  std::vector<int> sizes(dims), periodic(dims), at(dims);
  MPI_Cart_get(t.comm, dims, sizes.data(), periodic.data(), at.data());
  for (int d = 0; d < dims; ++d) {
    int below, above;
    MPI_Cart_shift(t.comm, d, 1, &below, &above);
    t.out.insert(t.out.end(), {{below, 2 * d}, {above, 2 * d + 1}});
    t.in.insert(t.in.end(), {{below, 2 * d + 1}, {above, 2 * d}});
  }
}

std::vector<Edge> number(const std::vector<int> &peers) {
  std::map<int, int> seen;
  std::vector<Edge> edges;
  for (int peer : peers)
    edges.push_back({peer, seen[peer]++});
  return edges;
}

void readGraph(Topology &t) {
  int rank, count;
  MPI_Comm_rank(t.comm, &rank);
  MPI_Graph_neighbors_count(t.comm, rank, &count);
  std::vector<int> peers(count);
  MPI_Graph_neighbors(t.comm, rank, count, peers.data());
  t.in = t.out = number(peers);
}

void readDistGraph(Topology &t) {
  int in, out, weighted;
  MPI_Dist_graph_neighbors_count(t.comm, &in, &out, &weighted);
  std::vector<int> sources(in), targets(out), inWeights(in), outWeights(out);
  MPI_Dist_graph_neighbors(t.comm, in, sources.data(), weighted ? inWeights.data() : MPI_UNWEIGHTED,
                           out, targets.data(), weighted ? outWeights.data() : MPI_UNWEIGHTED);
  t.in = number(sources);
  t.out = number(targets);
}

void read(Topology &t) {
  switch (t.features.kind) {
  case TopologyKind::Cartesian:
    return readCartesian(t);
  case TopologyKind::Graph:
    return readGraph(t);
  case TopologyKind::DistGraph:
    return readDistGraph(t);
  }
}

// Over all of the world, so that ranks that are left out know it, too.
void agree(Topology &t) {
  std::map<int, int> seen;
  for (const Edge &edge : t.out)
    if (edge.peer != MPI_PROC_NULL)
      ++seen[edge.peer];
  int any[2] = {0, t.in.size() != t.out.size()};
  for (auto [peer, count] : seen)
    any[0] |= count > 1;
  MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  t.features.parallelEdges = any[0];
  t.features.unevenDegrees = any[1];
}

int create(Topology &t, Random &random) {
  switch (t.features.kind) {
  case TopologyKind::Cartesian:
    return makeCartesian(t, random);
  case TopologyKind::Graph:
    return makeGraph(t, random);
  case TopologyKind::DistGraph:
    return makeDistGraph(t, random);
  }
  return MPI_ERR_OTHER;
}

} // namespace

Topology makeTopology(TopologyKind kind, bool derived, Random &random) {
  Topology t;
  t.features.kind = kind;
  if (create(t, random) != MPI_SUCCESS) {
    std::fprintf(stderr, "no communicator: %s\n", t.name.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Random more({random.next()});
  if (t.comm != MPI_COMM_NULL) {
    if (derived)
      derive(t, more);
    MPI_Comm_set_errhandler(t.comm, MPI_ERRORS_RETURN);
    MPI_Comm_dup(t.comm, &t.oracle);
    read(t);
  }
  agree(t);
  return t;
}

} // namespace conformance
