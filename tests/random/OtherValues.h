/// What is compiled is loaded and run at other values than those at which it was proved: other
/// sizes and lengths of blocks for which it is said to hold.
#pragma once

#include "tests/random/Judge.h"

#include "ir/Schedule.h"

#include <optional>

namespace colldsl::generated {

/// `proved`: the program's schedule, which is proved at the program's values, with the sizes for
/// which it is said to be; `anyLengths`: it is said to be for all lengths of blocks. Nothing: it is
/// right at all values that are tried.
std::optional<Verdict> faultAtOtherValues(const Program &program, const Schedule &proved,
                                          bool anyLengths, uint64_t seed);

} // namespace colldsl::generated
