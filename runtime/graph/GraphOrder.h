/// The order in which all ranks send along a graph: rounds, in each of which every rank sends at
/// most once and receives at most once. Found once, when the graph is announced, and alike on all
/// ranks.
#pragma once

#include "instantiate/GivenValue.h"
#include "ir/Dag.h"
#include "runtime/job/Communicator.h"

namespace colldsl {

/// Alike on all ranks.
struct GraphOrderOptions {
  bool isOn = true;
  /// A graph of at most so many edges is gathered, and each rank finds the least number of rounds;
  /// gathering needs 4 bytes per edge, coloring about 50. For a larger graph ranks ask their
  /// neighbors. Above 2^30 no graph is gathered.
  uint64_t gatherAtMost = 1 << 20;
};

struct GraphOrder {
  uint32_t rounds = 0; ///< 0: no search took place
  /// The rounds of this rank's out-edges, without those that have no peer, in the order of their
  /// slots; empty: the order of the slots is as good.
  std::vector<uint32_t> round;
};

/// Collective. `own`: the edges of this rank, whose peers exist. Searches for rounds only if that
/// can pay: a port has more than one edge, and the slots are not rounds already. Rounds: the
/// highest degree d of a port if the graph is gathered, else at most 2 d - 1.
Result<GraphOrder> orderGraph(Communicator &communicator, const RankEdges &own,
                              const GraphOrderOptions &options);

/// A graph with its order, as seen by one rank.
struct OrderedGraph {
  GivenGraph edges;
  GraphOrder order;
};

/// True if the messages of this rank's DAG are exactly the edges of the graph: as many to each peer
/// and from each, and no message waits for anything.
bool isAlong(const Dag &dag, const RankEdges &own);

/// Orders the sends of a DAG that isAlong() a graph by the graph's rounds; see orderSends().
Status orderAlong(Dag &dag, const OrderedGraph &graph);

} // namespace colldsl
