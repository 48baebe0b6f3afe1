/// `colldsl verify` of execution plans of MSCCL++.
#pragma once

#include "mscclpp/Prove.h"
#include "show/Svg.h"
#include "tools/Commands.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace colldsl::tools {

struct PlanProofSettings {
  uint32_t shown = 1; ///< refusals of each plan
  bool json = false;
  std::string page; ///< of the first plan that is refused; empty: none
  bool isSvg = false;
  show::SvgChoice svg;
};

/// Proves the plans and prints verdicts. Success: all are proved.
Exit verifyPlans(llvm::ArrayRef<std::string> files, const PlanProofSettings &settings);

/// Prints so many refusals of a plan that is not proved.
void printRefusals(const std::string &file, const mscclpp::Verdict &verdict, uint32_t shown);

} // namespace colldsl::tools
