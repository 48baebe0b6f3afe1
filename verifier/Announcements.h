/// Part of the third proof: a message that is `announced` is written to a receiver that is ready.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// The start of each announced receive comes before the start of its send: other ops tell the
/// sender. order: the events in an order of happens-before, complete.
void checkAnnouncements(const EventGraph &graph, std::span<const Event> order,
                        const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
