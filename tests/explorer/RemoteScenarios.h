/// All scenarios of so many ranks and messages over a network, and the interleavings of each.
#pragma once

#include "tests/explorer/RemoteWorld.h"
#include "tests/explorer/ReplayExplorer.h"
#include "tests/explorer/Scenarios.h"

namespace colldsl::test {

const char *nameOf(Way way);

struct RemoteExploration {
  uint8_t ranks = 2;
  size_t messages = 1;
  size_t every = 1;                 ///< scenario: each so many-th
  uint64_t mostStates = UINT64_MAX; ///< of a scenario
  bool hasAllOrders = false;        ///< as Scenario
  bool isLate = false;              ///< the same
};

/// What was found wrong first; empty: nothing. Prints what was walked.
std::string explore(const RemoteExploration &what);

} // namespace colldsl::test
