/// `colldsl verify` of execution plans of MSCCL++.
#pragma once

#include "tools/Commands.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace colldsl::tools {

/// True if an ordinary file of that name begins like an execution plan.
bool isExecutionPlan(const std::string &file);

/// Proves the plans and prints verdicts, with so many refusals for each. Success: all are proved.
Exit verifyPlans(llvm::ArrayRef<std::string> files, uint32_t shown, bool json);

} // namespace colldsl::tools
