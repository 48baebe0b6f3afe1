/// The second proof: the event graph has no cycle under any of three rules for sends.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// Checks, in this order, until one fails: plain waiting, synchronous sends, finite channels.
/// Returns the events in an order of happens-before; empty if the graph has a cycle under plain
/// waiting already.
PagedArray<Event> checkDeadlock(const EventGraph &graph, uint32_t channelSlots,
                                const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
