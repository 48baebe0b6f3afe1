/// Random programs with what they run: about half of them right.
#pragma once

#include "tests/random/Program.h"

namespace colldsl::generated {

/// The same program for the same seed.
Program generate(uint64_t seed);

} // namespace colldsl::generated
