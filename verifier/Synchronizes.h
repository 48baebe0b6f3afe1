/// Part of the fourth proof: `synchronizes`, no rank finishes before all have started.
#pragma once

#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// order: the events in an order of happens-before. Sets of all ranks at once take up to so many
/// steps per event; where that is not enough, 64 ranks at a time are looked at.
void checkSynchronizes(const EventGraph &graph, std::span<const Event> order, Failures &failures,
                       uint64_t stepsPerEvent = 32);

} // namespace colldsl::proof
