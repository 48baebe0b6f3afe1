/// The number of messages that follow each other.
#pragma once

#include "verifier/EventGraph.h"

namespace colldsl::proof {

/// Per vertex, the length of the longest chain of messages, each sent after the one before, that
/// ends with it: a send counts its own message, a receive the one that it takes. 0: no message came
/// before. order: as topologicalOrder() by happens-before; vertices of cycles have 0.
std::vector<uint32_t> messageDepths(const EventGraph &graph, std::span<const Event> order);

} // namespace colldsl::proof
