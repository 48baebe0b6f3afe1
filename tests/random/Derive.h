/// A contract that says what a program leaves.
#pragma once

#include "tests/random/Program.h"

namespace colldsl::generated {

/// Gives the last collective promises about all that one run of it leaves in its buffers; of a
/// program that comes to no end, some promises.
void deriveContract(Program &program);

} // namespace colldsl::generated
