/// Trees whose bodies make other trees.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

/// Puts copies that look at them in the place of some trees of the program. It means the same.
void nestTrees(Program &program, Random &random);

} // namespace colldsl::generated
