#include "driver/fit/Predictor.h"

#include "ir/Concat.h"
#include "passes/PackProgram.h"
#include "select/Candidate.h"

#include <algorithm>
#include <cassert>

namespace colldsl::driver {
namespace {

InstantiateRequest requestOf(const Program &program, const Measurement &call,
                             const TunedCollective &collective, const Topology &topology) {
  DeclId decl = program.find(collective.name, DeclKind::Collective);
  assert(decl != kNoDecl);
  CandidateCall asked;
  asked.function = call.function;
  asked.type = ElementType::U8;
  asked.bytes = hasBlocks(call.function) ? std::max<uint64_t>(1, call.bytes / topology.numRanks())
                                         : call.bytes;
  for (const TunedCollective::Value &value : collective.values)
    asked.values[value.parameter] = value.value;
  // Collectives for a torus number its ranks along the last dimension first, networks along the
  // first one.
  if (!call.shape.empty() && call.ranksPerNode == 1)
    asked.values["dims"] = std::vector<int64_t>(call.shape.rbegin(), call.shape.rend());
  return requestFor(program, decl, asked, topology);
}

} // namespace

Result<const Topology *> Predictor::topologyOf(const Measurement &call) {
  std::unique_ptr<Topology> &known = topologies_[{call.numNodes, call.ranksPerNode}];
  if (!known) {
    Result<Topology> made =
        Topology::make(concat("node:", call.numNodes, " core:", call.ranksPerNode),
                       uint64_t{call.numNodes} * call.ranksPerNode);
    if (!made)
      return made.status();
    known = std::make_unique<Topology>(made.take());
  }
  return known.get();
}

Result<Prediction> Predictor::predict(const Measurement &call, const TunedCollective &collective,
                                      const MachineModel &model, uint64_t mostOps,
                                      bool tellsSpent) {
  Result<const Topology *> topology = topologyOf(call);
  if (!topology)
    return topology.status();
  InstantiateRequest request = requestOf(program_, call, collective, **topology);
  Result<size_t> ofOne = opsOfFirstRank(program_, request);
  if (!ofOne)
    return ofOne.status();
  if (*ofOne * request.ranks > mostOps)
    return Status::error(concat("it has more than ", mostOps, " ops"));
  sim::WorkloadOptions packing;
  packing.model = &model;
  packing.topology = *topology;
  packing.maxOps = 4 * mostOps;
  Result<sim::Workload> workload = packProgram(program_, request, packing);
  if (!workload)
    return workload.status();
  sim::SimulateOptions options;
  options.model = model;
  options.topology = *topology;
  options.record = tellsSpent;
  if (call.numNodes > 1)
    options.network = network_;
  if (options.network.dims.empty())
    options.network.dims = call.shape;
  Result<sim::Outcome> outcome = sim::simulate(*workload, options);
  if (!outcome)
    return outcome.status();
  Prediction prediction{outcome->makespan, {}};
  if (tellsSpent)
    prediction.spent = sim::pathTimes(*workload, options, *outcome);
  return prediction;
}

} // namespace colldsl::driver
