/// From a target to what the simulator runs.
#pragma once

#include "simulator/Simulate.h"
#include "tools/input/SingleSchedule.h"

namespace colldsl::tools {

/// A workload, with what it was made of and must not go before it.
struct SimulatedJob {
  SinglePlan plan;
  std::shared_ptr<const Schedule> schedule; ///< null: its ranks were made one by one
  sim::Workload workload;
};

/// A collective's ranks are instantiated one after the other, on all cores; only where blocks
/// have lengths that are known at call time alone all of them at once. An error is reported as
/// Source::render() shows it.
Result<SimulatedJob> makeWorkload(Source &source, const Source::Target &target,
                                  const SingleOptions &single, const sim::SimulateOptions &options);

} // namespace colldsl::tools
