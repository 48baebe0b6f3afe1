/// Programs for any number of ranks: known patterns with random offsets, conditions and parts, of
/// which some get a small mistake.
#pragma once

#include "tests/random/Build.h"

namespace colldsl::generated {

/// A program that is right for all numbers of ranks, or nearly so. Its parameters that are no
/// buffers have defaults; what is right is so for all their values.
Program generateForAllRanks(uint64_t seed);

/// The program with other values of its parameters: an int is any, a root is some rank of `ranks`.
Program withOtherValues(const Program &program, Random &random);

} // namespace colldsl::generated
