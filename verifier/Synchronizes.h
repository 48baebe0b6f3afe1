/// Part of the fourth proof: in a collective with `synchronizes` no rank finishes before all have
/// started.
#pragma once

#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// order: the events in an order of happens-before. Sets of all ranks at once may take
/// stepsPerEvent steps per event; beyond that the check takes 64 ranks at a time.
void checkSynchronizes(const EventGraph &graph, std::span<const Event> order, Failures &failures,
                       uint64_t stepsPerEvent = 32);

} // namespace colldsl::proof
