/// Files with execution plans of MSCCL++, for the commands that take them.
#pragma once

#include "ir/Result.h"
#include "mscclpp/ExecutionPlan.h"
#include "tools/Commands.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace colldsl::tools {

/// True if an ordinary file of that name begins like an execution plan.
bool isExecutionPlan(const std::string &file);

Result<mscclpp::Plan> readPlan(const std::string &file);

/// The name of a plan in reports.
std::string nameOf(const mscclpp::Plan &plan);

} // namespace colldsl::tools
