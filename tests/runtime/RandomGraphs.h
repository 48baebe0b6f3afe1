/// Graphs as ranks give them, to be colored by ranks that know their own edges alone.
#pragma once

#include "instantiate/ArgumentValue.h"
#include "runtime/graph/GraphOrder.h"
#include "tests/passes/Graphs.h"

namespace colldsl {

/// A multigraph with self loops, parallel edges, ranks without edges, slots that lead nowhere and
/// now and then a rank that all others send to; the slots of both ends in random order.
GivenGraph randomMultigraph(uint32_t ranks, uint64_t seed);

/// Slot k of each rank is the same shift: rounds already.
GivenGraph shifts(uint32_t ranks, uint32_t degree);

/// Those edges that lead somewhere, by rank and slot.
PortGraph portsOf(const GivenGraph &graph);

/// What each rank found, [graph][rank]: each is a process, which knows its own edges of each.
Result<std::vector<std::vector<GraphOrder>>> orderOnRanks(uint32_t ranks,
                                                          const std::vector<GivenGraph> &graphs,
                                                          const GraphOrderOptions &options);

} // namespace colldsl
