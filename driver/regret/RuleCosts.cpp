#include "driver/regret/RuleCosts.h"

#include "driver/fit/Measurement.h"
#include "ir/Concat.h"
#include "ir/Threads.h"
#include "select/Candidate.h"
#include "select/Chooser.h"
#include "select/Function.h"

#include <algorithm>
#include <atomic>
#include <set>

namespace colldsl::driver {
namespace {

Result<Topology> topologyOf(const RuleShape &shape) {
  return Topology::make(concat("node:", shape.nodes, " core:", shape.ranksPerNode), shape.ranks);
}

/// True if every rank knows the length of each block, which is in a parameter.
bool hasCounts(const Decl &collective) {
  return std::any_of(collective.params.begin(), collective.params.end(),
                     [](const Param &p) { return p.type == ValueType::IntList; });
}

std::vector<RuleCall> callsOf(const Program &program, std::span<const SelectionRule> rules,
                              const RuleGrid &grid) {
  std::vector<RuleCall> calls;
  for (const std::string &function : grid.functions) {
    DeclId model = modelOf(rules, function);
    bool hasBytes =
        model != kNoDecl && (hasElements(program.decl(model)) || hasCounts(program.decl(model)));
    for (uint32_t machine = 0; machine < grid.machines.size(); ++machine)
      for (const RuleShape &shape : grid.shapes)
        for (uint64_t bytes : grid.bytes) {
          bool isTooLong = hasBlocks(function) && bytes * shape.ranks > grid.mostBytesOfAll;
          if (!isTooLong && (hasBytes || bytes == grid.bytes.front()))
            calls.push_back({machine, shape, function, hasBytes ? bytes : 0,
                             grid.machines[machine].isTcp() && shape.nodes > 1});
        }
  }
  return calls;
}

CandidateCall candidateCall(const RuleCall &call) {
  CandidateCall asked;
  asked.function = call.function;
  asked.bytes = call.bytes;
  return asked;
}

} // namespace

std::string RuleShape::words() const {
  uint32_t missing = nodes * ranksPerNode - ranks;
  return concat(nodes, "x", ranksPerNode, missing > 0 ? concat(" less ", missing) : "");
}

uint64_t RuleCosts::best() const {
  uint64_t least = 0;
  for (const auto &[words, time] : ns)
    least = least == 0 ? time : std::min(least, time);
  return least;
}

double RuleCosts::regret(uint64_t ns) const {
  return static_cast<double>(ns) / static_cast<double>(best());
}

Result<std::vector<RuleCosts>> predictCosts(const Program &program,
                                            std::span<const SelectionRule> rules,
                                            const RuleGrid &grid, const Watch &watch) {
  std::vector<RuleCall> calls = callsOf(program, rules, grid);
  std::vector<RuleCosts> costs(calls.size());
  std::set<std::string> multicast; // as rules say, for networks that have it
  for (const SelectionRule &rule : rules)
    if (rule.needsMulticast)
      multicast.insert(program.nameOf(program.decl(DeclId{rule.collective})));
  Steps steps(watch, "calls", calls.size());
  std::atomic<size_t> next{0};
  onThreads(grid.threads, [&] {
    for (size_t i = next++; i < calls.size() && !watch.isStopped(); i = next++) {
      costs[i].call = calls[i];
      Result<Topology> topology = topologyOf(calls[i].shape);
      if (!topology)
        continue;
      CandidateFinder finder(program, rules, grid.machines[calls[i].machine].cost, *topology);
      CandidateLimits limits;
      limits.most = SIZE_MAX;
      limits.reach = UINT64_MAX;
      limits.mostOps = UINT64_MAX;
      limits.mostOpsOfOne = grid.mostOps;
      limits.needsModel = true;
      for (const RatedCandidate &one : finder.find(candidateCall(calls[i]), limits))
        if (!multicast.count(one.what.name))
          costs[i].ns.emplace(one.what.words(), std::max<uint64_t>(1, *one.ns));
      steps.step();
    }
  });
  if (watch.isStopped())
    return Status::error("the search was stopped");
  return costs;
}

std::vector<RuleChoice> judgeRules(const Program &program, std::span<const SelectionRule> rules,
                                   const RuleGrid &grid, std::vector<RuleCosts> &costs) {
  Chooser chooser(program, {}, rules);
  std::vector<RuleChoice> choices(costs.size());
  std::atomic<size_t> next{0};
  onThreads(grid.threads, [&] {
    for (size_t i = next++; i < costs.size(); i = next++) {
      RuleCosts &of = costs[i];
      RuleChoice &choice = choices[i];
      choice.call = i;
      Result<Topology> topology = topologyOf(of.call.shape);
      if (!topology)
        continue;
      Situation situation = Situation::on(*topology, false);
      situation.function = of.call.function;
      situation.bytes = of.call.bytes;
      situation.tcp = of.call.isTcp;
      choice.rule = chooser.choose(situation);
      if (!choice.rule)
        continue;
      choice.chosen = chooser.collectiveOf(*choice.rule).words();
      auto known = of.ns.find(choice.chosen);
      if (known == of.ns.end()) {
        InstantiateRequest request =
            requestFor(program, DeclId{choice.rule->collective}, candidateCall(of.call), *topology);
        request.arguments = chooser.argumentsOf(*choice.rule);
        request.limits.maxTotalOps = 8 * grid.mostOps;
        Result<uint64_t> ns = grid.machines[of.call.machine].cost.makespanNs(program, request);
        if (!ns)
          continue;
        known = of.ns.emplace(choice.chosen, std::max<uint64_t>(1, *ns)).first;
      }
      choice.ns = known->second;
    }
  });
  return choices;
}

} // namespace colldsl::driver
