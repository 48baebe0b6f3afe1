/// Refuses ops that the executor cannot execute, or executes otherwise than they read.
#pragma once

#include "mscclpp/ExecutionPlan.h"

namespace colldsl::mscclpp {

/// The reason why an op cannot be executed as it reads; empty if it can.
std::string whyNotExecutable(const Plan &plan, const Op &op, bool inPipeline);

/// The reason why an op cannot be a member of a pipeline; empty if it can.
std::string whyNotInPipeline(const Op &pipeline, const Op &member);

/// True if each source of the op goes to a destination of its own.
bool movesPairs(OpKind kind);

/// True if that source or destination of an op holds packets, by its position.
bool isPacketRange(const Op &op, bool isSource, size_t position);

} // namespace colldsl::mscclpp
