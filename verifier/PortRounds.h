/// The rounds that a schedule takes if each rank has one port.
///
/// In each round a rank sends at most one message and receives at most one, both at once if need
/// be, with any two peers. A message travels in a round if all that its send and its receive wait
/// for ended in earlier rounds. A rank sends messages in the order in which they became ready,
/// those of one round in program order. A receiver takes the message that has waited longest, or of
/// several the one from the lowest rank. Local ops, and messages without bytes, take no time.
/// Example: 0 sends to 1 and 2, without dependencies: one message follows the other, although the
/// chain of messages has length 1.
#pragma once

#include "verifier/EventGraph.h"

namespace colldsl::proof {

/// Per vertex, the round of its message, from 1 on; 0 for all others. Requires that no cycle exists
/// under SynchronousSends. (vertices + edges) * log(vertices) steps.
std::vector<uint32_t> portRounds(const EventGraph &graph);

} // namespace colldsl::proof
