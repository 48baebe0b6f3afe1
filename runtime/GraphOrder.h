/// In which order all ranks send along a graph: rounds, in each of which no rank sends twice and
/// none receives twice. Found once, when the graph is made known, and the same for all ranks.
#pragma once

#include "instantiate/GivenValue.h"
#include "ir/Dag.h"
#include "runtime/Communicator.h"

namespace colldsl {

/// Alike on all ranks.
struct GraphOrderOptions {
  bool isOn = true;
  /// A graph of at most so many edges is gathered and each rank finds the fewest rounds there can
  /// be; 4 bytes per edge are gathered, about 50 needed to color. Of a larger one ranks ask
  /// their neighbors. Above 2^30 none is gathered.
  uint64_t gatherAtMost = 1 << 20;
};

struct GraphOrder {
  uint32_t rounds = 0; ///< 0: there was no search for any
  /// Of this rank's out-edges, but for those that lead nowhere, in the order of their slots; empty:
  /// they keep that order, which is as good.
  std::vector<uint32_t> round;
};

/// Collective. `own`: the edges of this rank, whose peers exist. Looks for rounds where it can be
/// worth it: where a port has more than one edge, and the slots are no rounds already.
/// Rounds: the highest degree d of a port where the graph is gathered, else at most 2 d - 1.
Result<GraphOrder> orderGraph(Communicator &communicator, const Neighborhood &own,
                              const GraphOrderOptions &options);

/// A graph with its order, as one rank knows it.
struct OrderedGraph {
  GivenGraph edges;
  GraphOrder order;
};

/// Whether the messages of this rank's DAG are the edges of the graph and nothing else: as many to
/// each peer and from each, and none waits for anything.
bool isAlong(const Dag &dag, const Neighborhood &own);

/// Orders the sends of a DAG that isAlong() a graph by the graph's rounds; see orderSends().
Status orderAlong(Dag &dag, const OrderedGraph &graph);

} // namespace colldsl
