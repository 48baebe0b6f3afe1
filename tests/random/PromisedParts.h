/// Promises of parts that no operation of the program has.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

/// Promises again, of a part, what is promised of a buffer or a block. Its value is a part of other
/// numbers that has the same elements at the size of the program, and others elsewhere.
void promiseParts(Program &program, Random &random);

} // namespace colldsl::generated
