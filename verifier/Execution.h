/// The symbolic run: executes every op once, in an order of happens-before, on values
/// instead of bytes.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/EventGraph.h"
#include "verifier/Failures.h"
#include "verifier/State.h"
#include "verifier/Usefulness.h"

namespace colldsl::proof {

/// Brings `state` from entry to exit. Reports reads of bytes that hold nothing (Writes), combines
/// that tear elements apart (Contract), and messages of capacity blocks that do not fit (Matching).
/// False: the lengths do not fit, and the run stopped there. `usefulness`, unless it is null,
/// learns the readers and writers of bytes. In a proof of all lengths the state says if the run
/// holds for all.
bool execute(const EventGraph &graph, const Placement &placement, std::span<const Event> order,
             const DiagnosticNames &names, Values &values, State &state, Failures &failures,
             Usefulness *usefulness = nullptr);

} // namespace colldsl::proof
