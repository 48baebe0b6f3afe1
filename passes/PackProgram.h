/// The workload of a program: its ranks are instantiated and packed one after the other, so that
/// the schedule of all ranks never exists.
#pragma once

#include "instantiate/Instantiate.h"
#include "simulator/Workload.h"

namespace colldsl {

/// The number of ops of rank 0. An error: the request has no schedule.
Result<size_t> opsOfFirstRank(const Program &program, const InstantiateRequest &request);

/// The program and the request's topology outlive the workload. Holds a few ranks per thread
/// besides the workload itself. Does not check that trees are trees and that members of a group
/// make the same calls, which instantiateAll() does. An error: a buffer has blocks whose lengths
/// are known at call time only.
Result<sim::Workload> packProgram(const Program &program, const InstantiateRequest &request,
                                  const sim::WorkloadOptions &options, unsigned threads = 1);

} // namespace colldsl
