/// Rounds of a graph that no rank knows as a whole: each rank queries the ranks that it sends to.
/// See instantiate/graphs/coloring/Distributed.h.
#pragma once

#include "runtime/graph/GraphOrder.h"

namespace colldsl {

/// Collective. `to`, `from`: the peers of this rank's edges, in the order of their slots; `turns`:
/// the highest outdegree of a rank, `degree`: the highest degree of a port. Cost: 2 turns + 1
/// plans, each for one run; three messages for each edge, of which one has at most degree / 4
/// bytes; two numbers of each rank are gathered.
Result<GraphOrder> colorByQueries(Communicator &communicator, const std::vector<Rank> &to,
                                  const std::vector<Rank> &from, uint32_t turns, uint32_t degree);

} // namespace colldsl
