/// From an algorithm of MSCCL to an execution plan.
#pragma once

#include "formats/Msccl.h"
#include "mscclpp/ExecutionPlan.h"

namespace colldsl::mscclpp {

/// The plan has the threadblocks and chunks of the algorithm. Each message has a place of its own
/// in the scratch of its receiver, into which the sender puts it before it signals; a relaxed
/// signal of the receiver at the beginning of a launch says that the places are free. Steps that
/// wait for other threadblocks acquire a semaphore each, and so does the rest of a threadblock that
/// has more ops than the executor takes. An error: a reduction to one GPU, which plans have no word
/// for.
Result<Plan> fromAlgorithm(const msccl::Algorithm &algorithm);

/// A plan as the JSON that the executor and read() read, of ops over memory channels.
std::string print(const Plan &plan);

} // namespace colldsl::mscclpp
