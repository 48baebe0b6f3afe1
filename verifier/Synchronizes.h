/// Part of the fourth proof: `synchronizes`, no rank finishes before all have started.
#pragma once

#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// order: the events in an order of happens-before.
void checkSynchronizes(const EventGraph &graph, const std::vector<Event> &order,
                       Failures &failures);

} // namespace colldsl::proof
