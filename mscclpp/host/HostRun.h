/// Runs a plan in the memory of this process: the threads of all threadblocks of all GPUs, and a
/// proxy for each GPU, really at once, in an order that is drawn at random. docs/mscclpp.md says
/// which of the model's freedoms a run takes.
#pragma once

#include "mscclpp/PlanLayout.h"

#include <chrono>
#include <string>
#include <vector>

namespace colldsl::mscclpp {

struct HostRunOptions {
  uint64_t messageBytes = 0; ///< as in PlanLayout::of()
  uint32_t launches = 1;     ///< follow each other with nothing between them
  uint64_t seed = 0;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60); ///< of all launches
};

struct HostRunReport {
  /// Set if some launch did not end: "gpu 0, threadblock 1, op 3 'wait', launch 2 waits at ...".
  std::vector<std::string> waits;
  bool isTimedOut = false;     ///< the time was over; else no thread could go on
  bool hasEnded = true;        ///< all launches did
  bool isChecked = false;      ///< the collective has a result that is known
  uint64_t wrongWords = 0;     ///< of outputs, and of inputs that should stay
  std::string firstWrong = {}; ///< by launch, GPU and place
};

/// An error if no such message can be run. A plan need not be proved: no access leaves its buffer.
Result<HostRunReport> runOnHost(const Plan &plan, const HostRunOptions &options);

} // namespace colldsl::mscclpp
