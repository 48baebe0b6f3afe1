/// Random chains of passes on schedules that are right.
#pragma once

#include "ir/Schedule.h"
#include "tests/random/Judge.h"

namespace colldsl::generated {

/// The schedule with the contract that the other one has.
Schedule withContractOf(const Schedule &meaning, Schedule schedule);

/// Runs the passes that the seed chooses on `schedule`, the program's, which is proved and right.
/// `promising`: the same with the contract by which what comes out is judged.
ChainVerdict judgeChain(const Schedule &schedule, const Schedule &promising, const Program &program,
                        uint64_t seed);

} // namespace colldsl::generated
