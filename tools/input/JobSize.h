/// Jobs that are too large for this machine, before they take its memory.
#pragma once

#include "instantiate/Instantiate.h"

namespace colldsl::tools {

/// An error with the numbers if the ops of all ranks are more than InstantiateLimits::maxTotalOps,
/// or take more than the memory of this machine with so many bytes each. Of many ranks a few are
/// instantiated: if each of them has more than four times the ops that its share allows, so have
/// nearly all. Others pass; the limits themselves stop them later.
Status checkJobSize(const Program &program, const InstantiateRequest &request, double bytesPerOp);

} // namespace colldsl::tools
