#include "passes/CostModel.h"

#include "passes/PackProgram.h"

#include <algorithm>

namespace colldsl {
namespace {

Result<uint64_t> simulatedNs(Result<sim::Workload> workload, const CostModel &cost,
                             const Topology *topology) {
  if (!workload)
    return workload.status();
  sim::SimulateOptions options;
  options.model = cost.machine;
  options.topology = topology;
  options.network = cost.network;
  options.receiveSlots = cost.receiveSlots;
  Result<sim::Outcome> outcome = sim::simulate(*workload, options);
  if (!outcome)
    return outcome.status();
  return outcome->makespan;
}

sim::WorkloadOptions packing(const CostModel &cost, const Topology *topology) {
  sim::WorkloadOptions options;
  options.model = &cost.machine;
  options.topology = topology;
  return options;
}

} // namespace

Result<uint64_t> CostModel::makespanNs(const Schedule &schedule, std::span<const Sizes> sizes,
                                       const Topology &topology) const {
  sim::WorkloadOptions options = packing(*this, &topology);
  options.isPlainGoal = schedule.isPlainGoal;
  return simulatedNs(sim::packSchedule(schedule, sizes, options), *this, &topology);
}

Result<uint64_t> CostModel::makespanNs(const Program &program,
                                       const InstantiateRequest &request) const {
  sim::WorkloadOptions options = packing(*this, request.topology);
  options.maxOps = request.limits.maxTotalOps;
  return simulatedNs(packProgram(program, request, options), *this, request.topology);
}

const LogGop &CostModel::farthest(Rank from, std::span<const Rank> to,
                                  const Topology &topology) const {
  unsigned most = 0;
  for (Rank rank : to)
    most = std::max(most, topology.distance(from, rank));
  return machine.distances[most];
}

} // namespace colldsl
