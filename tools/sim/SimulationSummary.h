/// The result of a simulation, for people and as JSON.
#pragma once

#include "simulator/CriticalPath.h"
#include "simulator/Simulate.h"
#include "tools/options/Json.h"

namespace colldsl::tools {

struct SimulatedRun {
  std::string name;
  uint64_t bytes = 0; ///< n times the size of T
  bool isProved = false;
  const sim::Workload *workload = nullptr;
  const sim::Outcome *outcome = nullptr;
  const Topology *topology = nullptr;
  bool isExecutionPlan = false;
  std::vector<sim::PathStep> path; ///< empty: not wanted
};

void printSummary(const SimulatedRun &run, llvm::raw_ostream &out);
llvm::json::Object summaryJson(const SimulatedRun &run);

/// "send to rank 3", "message from rank 2", "calc 100 ns".
std::string stepWord(const sim::PathStep &step);

} // namespace colldsl::tools
