/// Refuses ops that the executor cannot execute, or executes otherwise than they read.
#pragma once

#include "mscclpp/ExecutionPlan.h"

namespace colldsl::mscclpp {

/// The reason why an op cannot be executed as it reads; empty if it can.
std::string whyNotExecutable(const Plan &plan, const Op &op, bool inPipeline);

/// The reason why an op cannot be a member of a pipeline; empty if it can.
std::string whyNotInPipeline(const Op &pipeline, const Op &member);

} // namespace colldsl::mscclpp
