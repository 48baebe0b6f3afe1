/// Rounds of a graph that nobody has as a whole: each rank asks those it sends to. See
/// passes/coloring/Distributed.h.
#pragma once

#include "runtime/GraphOrder.h"

namespace colldsl {

/// Collective. `to`, `from`: where this rank's edges lead and come from, in the order of their
/// slots; `turns`: the highest outdegree of a rank, `degree`: the highest degree of a port.
/// Cost per rank: 2 turns + 1 runs along all of its edges, of which each carries degree / 4 bytes
/// at most; three numbers of each rank are gathered.
Result<GraphOrder> colorByAsking(Communicator &communicator, const std::vector<Rank> &to,
                                 const std::vector<Rank> &from, uint32_t turns, uint32_t degree);

} // namespace colldsl
