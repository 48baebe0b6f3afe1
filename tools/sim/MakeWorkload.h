/// Workloads of the simulator from targets.
#pragma once

#include "simulator/Simulate.h"
#include "tools/input/SingleSchedule.h"

namespace colldsl::tools {

/// A workload, with the objects that must outlive it.
struct SimulatedJob {
  SinglePlan plan;
  std::shared_ptr<const Schedule> schedule; ///< null: its ranks were made one by one
  sim::Workload workload;
};

/// Instantiates a collective rank by rank, on all cores. It needs all ranks at once only for DAG
/// passes, and for blocks whose lengths are known at call time alone. An error is reported as
/// Source::render() shows it.
Result<SimulatedJob> makeWorkload(Source &source, const Source::Target &target,
                                  const SingleOptions &single, const sim::SimulateOptions &options);

} // namespace colldsl::tools
