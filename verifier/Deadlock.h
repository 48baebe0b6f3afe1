/// The second proof: nothing waits for itself, under each rule of what sends wait for.
#pragma once

#include "verifier/EventGraph.h"
#include "verifier/Failures.h"
#include "verifier/Words.h"

namespace colldsl::proof {

/// Checks, in this order, until one fails: plain waiting, synchronous sends, finite
/// channels. Returns the events in an order of happens-before; empty after a failure.
std::vector<Event> checkDeadlock(const EventGraph &graph, uint32_t channelSlots, const Words &words,
                                 Failures &failures);

} // namespace colldsl::proof
