/// Workloads of the simulator from targets.
#pragma once

#include "driver/Watch.h"
#include "driver/requests/SimulationRequest.h"
#include "driver/schedule/SingleSchedule.h"
#include "simulator/Simulate.h"

namespace colldsl::driver {

/// A workload, with the objects that must outlive it.
struct SimulatedJob {
  SinglePlan plan;
  std::shared_ptr<const Schedule> schedule; ///< null: its ranks were made one by one
  sim::Workload workload;
};

/// Instantiates a collective rank by rank, on all cores. It needs all ranks at once only for DAG
/// passes, and for blocks whose lengths are known at call time alone. `contract`: as in
/// makeSchedule(). An error is reported as Source::render() shows it.
Result<SimulatedJob> makeWorkload(Source &source, const Source::Target &target,
                                  const SingleRequest &single, const sim::SimulateOptions &options,
                                  bool contract);

/// Simulates the workload on its topology. Progress counts ops and messages. The watch can stop it.
Result<sim::Outcome> simulateJob(SimulatedJob &job, sim::SimulateOptions options,
                                 const std::string &name, const Watch &watch = {});

} // namespace colldsl::driver
