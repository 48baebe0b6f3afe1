/// Refusal of jobs that are too large for this machine, before they take its memory.
#pragma once

#include "instantiate/Instantiate.h"

namespace colldsl::driver {

/// An error with the numbers if the ops of all ranks exceed InstantiateLimits::maxTotalOps, or,
/// with `bytesPerOp` each, the memory of this machine. If there are many ranks, it instantiates a
/// few and refuses the job if each of them has more than four times the ops of its share: nearly
/// all ranks will. Other jobs pass, and the limits stop them later.
Status checkJobSize(const Program &program, const InstantiateRequest &request, double bytesPerOp);

} // namespace colldsl::driver
