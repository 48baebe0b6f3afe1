/// `colldsl run` of execution plans of MSCCL++.
#pragma once

#include "tools/Commands.h"

#include "llvm/ADT/ArrayRef.h"

#include <chrono>
#include <optional>
#include <string>

namespace colldsl::tools {

struct PlanRunSettings {
  std::optional<uint32_t> ranks; ///< if given: the GPUs that each plan must have
  std::optional<uint64_t> bytes; ///< of a message; nothing: one near the usual length
  uint32_t launches = 10;
  uint64_t seed = 0;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  bool verify = true;
  bool json = false;
};

/// Runs the plans on this machine and prints what became of the data. Success: all ended with the
/// right result.
Exit runPlans(llvm::ArrayRef<std::string> files, const PlanRunSettings &settings);

} // namespace colldsl::tools
