/// Reads an execution plan of MSCCL++ from JSON.
#pragma once

#include "ir/Result.h"
#include "mscclpp/ExecutionPlan.h"

#include <string_view>

namespace colldsl::mscclpp {

/// Channels and remote buffers of the ops are resolved, channels are paired with those of the
/// peers. An error has the path of the member: "plan: gpus[0].threadblocks[2].ops[5].channel_ids[0]
/// ...". Members that the executor does not read are ignored, as it does. Refused are plans that
/// the executor refuses, and ops that it executes otherwise than their members say.
Result<Plan> read(std::string_view json);

} // namespace colldsl::mscclpp
