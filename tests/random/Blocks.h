/// Collectives whose buffers have blocks of lengths that are known at call time only: T[k][*],
/// whose lengths each rank is given, and T[k][<= m], whose lengths travel.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

/// Adds to the program's last collective a pattern on such blocks, with what it promises of them:
/// exchanges in which one message waits for others, relays, lists, messages in pieces, forms in
/// place, calls with a block as an argument.
void addBlockPattern(Program &program, Random &random);

/// Adds such blocks and random copies and messages of them. The contract is to be derived.
void addBlockWiring(Program &program, Random &random);

} // namespace colldsl::generated
