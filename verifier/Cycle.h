/// A shortest cycle of events that wait for each other.
#pragma once

#include "verifier/EventGraph.h"

namespace colldsl::proof {

/// `order` is topologicalOrder(graph, rules), and incomplete: there is a cycle. Returns
/// events each of which comes before the next, and the last before the first. It is a
/// shortest one unless the graph is so large that the search stops early; then it is the
/// shortest one found.
std::vector<Event> shortestCycle(const EventGraph &graph, Rules rules,
                                 std::span<const Event> order);

} // namespace colldsl::proof
