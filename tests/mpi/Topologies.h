/// Communicators with a random topology, and which edge meets which.
#pragma once

#include "tests/mpi/Random.h"

#include <mpi.h>
#include <string>

namespace conformance {

enum class TopologyKind : uint32_t { Cartesian, Graph, DistGraph };

/// One end of an edge. Both ends of an edge have the same tag, and no two edges from one rank to
/// another have. `peer` may be MPI_PROC_NULL.
struct Edge {
  int peer, tag;
};

/// What is special about a topology, the same on all ranks.
struct Features {
  TopologyKind kind;
  /// More than one edge from one rank to another, or to itself. Grids have them where a periodic
  /// dimension has one rank or two.
  bool parallelEdges = false;
  /// A rank that receives more blocks than it sends, or fewer.
  bool unevenDegrees = false;
};

struct Topology {
  /// The communicator and a duplicate for the oracle; both are MPI_COMM_NULL on ranks left out.
  MPI_Comm comm = MPI_COMM_NULL, oracle = MPI_COMM_NULL;
  /// For messages, and the same on all ranks.
  std::string name;
  Features features;
  /// The edges by slot: `in` for blocks that are received, `out` for blocks that are sent.
  std::vector<Edge> in, out;

  Topology() = default;
  Topology(Topology &&other) noexcept;
  ~Topology();
};

/// Collective over MPI_COMM_WORLD. `random` has the same state on all ranks.
/// `derived`: take a duplicate or, of a grid, a part.
Topology makeTopology(TopologyKind kind, bool derived, Random &random);

} // namespace conformance
