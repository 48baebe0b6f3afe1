/// `colldsl verify` of execution plans of MSCCL++.
#pragma once

#include "mscclpp/Prove.h"
#include "tools/Commands.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace colldsl::tools {

/// Proves the plans and prints verdicts, with so many refusals for each. Success: all are proved.
Exit verifyPlans(llvm::ArrayRef<std::string> files, uint32_t shown, bool json);

/// Prints so many refusals of a plan that is not proved.
void printRefusals(const std::string &file, const mscclpp::Verdict &verdict, uint32_t shown);

} // namespace colldsl::tools
