/// What the MPIs get wrong of collectives by themselves; README.md describes it.
#pragma once

#include "tests/mpi/Deal.h"

namespace conformance {

/// Whether this MPI, alone, may fail this call.
bool isKnownFault(const Members &members, const Deal &deal);

/// Whether it may fail where persistent calls are in flight beside others.
bool hasFaultOfPersistentFlight();

enum class Mistake : uint32_t {
  NegativeCount,
  NullCommunicator,
  NullType,
  RootTooLarge,
  RootNegative,
  NullOperator,
  OperatorOfOtherType
};

/// Whether this MPI, alone, may call this mistake something else.
bool isKnownFault(const CollectiveForm &form, Mistake mistake);

} // namespace conformance
