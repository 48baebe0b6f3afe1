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
  size_t first = 0;                 ///< of these
  uint64_t mostStates = UINT64_MAX; ///< of a scenario
  Scenario as = {};                 ///< all but its ranks, messages and trouble
};

/// What was found wrong first; empty: nothing. Prints what was walked.
std::string explore(const RemoteExploration &what);
/// The same of this scenario, with no trouble, and with each rank in each kind of trouble.
std::string explore(const Scenario &scenario, uint64_t mostStates = UINT64_MAX);

} // namespace colldsl::test
