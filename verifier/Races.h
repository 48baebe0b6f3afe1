/// The third proof: ops of a rank that touch common bytes, one of them writing, are
/// ordered, and no op is in conflict with itself.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/EventGraph.h"
#include "verifier/Failures.h"

namespace colldsl::proof {

/// order: the events in an order of happens-before.
void checkRaces(const EventGraph &graph, const Placement &placement, std::span<const Event> order,
                const DiagnosticNames &names, Failures &failures);

} // namespace colldsl::proof
