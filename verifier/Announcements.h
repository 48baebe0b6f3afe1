/// Part of the third proof: a message that is `announced` is written to a receiver that is ready.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// The start of each announced receive comes before the start of its send, because other ops tell
/// the sender. order: the events in an order of happens-before, complete. certain: the graph of
/// only those messages that travel whatever the lengths of blocks are.
void checkAnnouncements(const EventGraph &graph, const EventGraph &certain,
                        std::span<const Event> order, const DiagnosticNames &names,
                        Failures &failures);

} // namespace colldsl::proof
