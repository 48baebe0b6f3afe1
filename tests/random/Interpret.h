/// What a program means, found by running its tree rank by rank: every slice is a run of elements,
/// two operations of a rank wait for each other where they touch a common element or the text says
/// so. Shares no code with the compiler, with instantiation, nor with the verifier.
#pragma once

#include "ir/Result.h"
#include "ir/Schedule.h"
#include "tests/random/Program.h"

namespace colldsl::generated {

/// Ops with constant slices, and the contract; for mutation::Oracle. An error: the program is
/// wrong, because an index lies outside of its buffer, two members of a group make different
/// calls, or the like.
Result<Schedule> interpret(const Program &program);

/// Buffers and contract alone. Slices that the contract equates need not be equally long: which
/// lengths blocks may have follows from it (tests/random/Lengths.h).
Result<Schedule> interpretContract(const Program &program);

} // namespace colldsl::generated
