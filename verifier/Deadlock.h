/// The second proof: the event graph has no cycle, under each of three rules of what sends wait
/// for.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// Checks, in this order, until one fails: plain waiting, synchronous sends, finite
/// channels. Returns the events in an order of happens-before, of which only plain waiting for
/// each other leaves none: it is empty then.
PagedArray<Event> checkDeadlock(const EventGraph &graph, uint32_t channelSlots,
                                const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
