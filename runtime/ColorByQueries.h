/// Rounds of a graph of which no rank has the whole: each rank queries those it sends to. See
/// passes/coloring/Distributed.h.
#pragma once

#include "runtime/GraphOrder.h"

namespace colldsl {

/// Collective. `to`, `from`: where this rank's edges lead and come from, in the order of their
/// slots; `turns`: the highest outdegree of a rank, `degree`: the highest degree of a port.
/// Cost: 2 turns + 1 plans, each for one run; three messages for each edge, of which one has at
/// most degree / 4 bytes; two numbers of each rank are gathered.
Result<GraphOrder> colorByQueries(Communicator &communicator, const std::vector<Rank> &to,
                                  const std::vector<Rank> &from, uint32_t turns, uint32_t degree);

} // namespace colldsl
