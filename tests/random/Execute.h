/// Runs a loaded image as the executor does, all ranks in this process and one thread, and compares
/// what is left in memory with what the interpreted contract says.
#pragma once

#include "ir/Image.h"
#include "tests/random/Program.h"

#include <string>

namespace colldsl::generated {

/// What goes wrong at the program's values; empty: nothing. `meaning`: the program interpreted at
/// these values. `seed`: of the order in which messages arrive.
std::string executed(const Image &image, const Program &program, const Schedule &meaning,
                     uint64_t seed);

} // namespace colldsl::generated
