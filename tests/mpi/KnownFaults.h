/// What the MPIs get wrong by themselves; README.md describes it.
#pragma once

#include "tests/mpi/Calls.h"
#include "tests/mpi/Topologies.h"

namespace conformance {

/// Whether this MPI, alone, may fail this call on this topology.
bool isKnownFault(const CallName &call, const Features &features);

/// What programs do around calls.
enum class Habit : uint32_t {
  /// Frees the communicator while the call is in flight.
  FreesCommunicator,
  /// Writes over the arrays of counts and types as soon as the call returns; MPI forbids it.
  SpoilsArrays,
  /// Completes persistent calls with MPI_Testall.
  UsesTestall,
  /// Tests a persistent call that was never started.
  TestsUnstarted,
};

/// Whether this MPI, alone, may fail where a program has the habit.
bool isKnownFault(Operation operation, Habit habit);

} // namespace conformance
