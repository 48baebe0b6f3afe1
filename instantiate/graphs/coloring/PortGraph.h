/// Messages as edges between ports: each rank has a send port and a receive port, and an edge
/// leads from one to the other. A message to oneself is an edge like others. Parallel
/// edges count each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace colldsl {

struct PortGraph {
  uint32_t sendPorts = 0;
  uint32_t recvPorts = 0;
  std::vector<uint32_t> from; ///< per edge, its send port
  std::vector<uint32_t> to;   ///< per edge, its receive port

  size_t numEdges() const { return from.size(); }
  void add(uint32_t send, uint32_t recv) {
    from.push_back(send);
    to.push_back(recv);
  }
};

/// The most edges at one port: a lower bound on the number of rounds.
uint32_t highestDegree(const PortGraph &graph);

/// A round for each edge, such that no port has two edges of one round.
struct EdgeColors {
  std::vector<uint32_t> color; ///< per edge, from 0
  uint32_t rounds = 0;         ///< the largest color and one more
};

// In order: the k-th edge of each send port gets round k, if that uses no receive port twice and
// as few rounds as there can be; nothing otherwise.
// Example: on a torus the k-th neighbor is the same shift for every rank, which is a
// permutation.
// Bound: E steps; one rank alone numbers its own edges.
std::optional<EdgeColors> colorInOrder(const PortGraph &graph);

// Welsh-Powell: edges by falling number of edges that they meet, each in the first round that is
// free at both of its ports.
// Example: 0 -> 1, 0 -> 2, 3 -> 2: the second edge meets two others, so it gets round 0; the
// others do not meet each other and get round 1.
// Bound: at most 2 d - 1 rounds for degree d; E d / 32 steps.
// Source: D. Welsh, M. Powell, 1967; used on neighborhoods by T. Hoefler, T. Schneider,
// "Optimization principles for collective neighborhood communications", SC 2012
EdgeColors colorGreedily(const PortGraph &graph);

// Optimal: an edge coloring of a bipartite multigraph with as many colors as its highest degree
// d. Ports with few edges are merged and edges that belong to no message added, until each port
// has d edges. An even d is halved: walks along the edges that never stop assign every other edge
// to one half, so that each port has d / 2 edges in both. Of an odd d a perfect matching is taken
// first, which random walks find.
// Example: 3 ranks, all to all and themselves, d = 3: a matching is round 0, what
// remains are two edges at each port, and one walk splits them into rounds 1 and 2.
// Bound: rounds == d (D. Koenig 1916); expected E log d + E log V steps, 36 bytes per edge.
// Walks are seeded: the same graph gives the same rounds on every rank.
// Source: H. Gabow, "Using Euler partitions to edge color bipartite multigraphs", 1976; A. Goel,
// M. Kapralov, S. Khanna, "Perfect matchings in O(n log n) time in regular bipartite graphs",
// 2010
EdgeColors colorOptimally(const PortGraph &graph);

} // namespace colldsl
