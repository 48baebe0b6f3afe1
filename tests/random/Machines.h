/// Collectives that look at where ranks sit.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

/// Machines with room for so many ranks, of which some have them in other groups.
std::vector<Machine> machinesFor(uint32_t ranks);

/// Adds a broadcast or a reduction by levels of the machine, as the collective that runs.
void addByLevels(Program &program, Random &random);

/// Adds calls over groups of the machine to the collective that runs. Its contract is to be
/// derived.
void addLevelCalls(Program &program, Random &random);

} // namespace colldsl::generated
