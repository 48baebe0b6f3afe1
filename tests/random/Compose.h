/// Programs composed of random statements and calls, whose contract says what they leave.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

void addComposition(Program &program, Random &random);

} // namespace colldsl::generated
