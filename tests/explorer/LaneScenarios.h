/// All scenarios of so many ranks and messages, and all interleavings of each: no byte moves into
/// or out of memory after its owner was told that the message ended, everybody gets an end, and
/// nothing is left.
#pragma once

#include "tests/explorer/Explorer.h"
#include "tests/explorer/LaneMachine.h"

namespace colldsl::test {

struct Total {
  uint64_t scenarios = 0, states = 0, ends = 0;
  std::string wrong; ///< empty: nothing; else the first thing that was found

  void add(const LaneScenario &scenario);
};

/// All messages are of the first plan, or all but one. Ranks have no names: of scenarios that
/// differ in these alone one is walked. Of these each `every`-th.
Total explore(uint8_t ranks, size_t messages, size_t every, Mutant mutant = Mutant::None);

} // namespace colldsl::test
