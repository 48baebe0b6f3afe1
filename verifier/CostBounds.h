/// Part of the fourth proof: the costs of ranks are within the bounds that the collective promises.
#pragma once

#include "verifier/EventGraph.h"
#include "verifier/Failures.h"
#include "verifier/Placement.h"

namespace colldsl::proof {

/// Bytes of a message's slices, with blocks of capacity in full; for a message without slices, the
/// size that it states. Slices may lie outside of their buffers.
uint64_t messageBytes(const Model &model, const Placement &placement, Vertex v);

/// order: the events in an order of happens-before; no cycle exists under SynchronousSends.
void checkCosts(const EventGraph &graph, const Placement &placement, std::span<const Event> order,
                Failures &failures);

} // namespace colldsl::proof
