/// Predicted times of all that could serve a function, over machines, shapes and sizes: what rules
/// are judged by, and found from.
#pragma once

#include "driver/Watch.h"
#include "passes/CostModel.h"
#include "program/library/Library.h"
#include "topology/MachineProfile.h"

#include <map>

namespace colldsl::driver {

struct RuleMachine {
  std::string name; ///< of its model
  CostModel cost;
  /// True if processors move messages between nodes, as they do over TCP.
  bool isTcp() const { return cost.machine.distances[kOtherNode].movedBy == MovedBy::Processors; }
};

/// Nodes of so many ranks each; the last may have fewer.
struct RuleShape {
  uint32_t nodes = 1, ranksPerNode = 1, ranks = 1;
  std::string words() const; ///< "16x8", "4x8 less 3"
};

/// A call on a machine.
struct RuleCall {
  uint32_t machine = 0;
  RuleShape shape;
  std::string function;
  uint64_t bytes = 0; ///< of n elements, or of each block; 0 if rules know none
  bool isTcp = false; ///< messages between nodes go over TCP
};

struct RuleGrid {
  std::vector<RuleMachine> machines;
  std::vector<RuleShape> shapes;
  std::vector<uint64_t> bytes; ///< of n elements
  std::vector<std::string> functions;
  uint64_t mostOps = 1 << 18;        ///< of a collective that is simulated
  uint64_t mostBytesOfAll = 1 << 28; ///< n times the ranks, of functions with a block per rank
  unsigned threads = 1;
};

/// The times of the collectives that serve a call, by words ("bcast_chain segment=65536").
struct RuleCosts {
  RuleCall call;
  std::map<std::string, uint64_t> ns;
  /// The least time of what other rules choose, to stay below; 0: there are none.
  uint64_t bar = 0;
  uint64_t best() const;
  /// The time by that of the best.
  double regret(uint64_t ns) const;
};

/// Predicts all calls of the grid. Functions whose collectives cannot be simulated have no times.
/// An error: the watch stopped it.
Result<std::vector<RuleCosts>> predictCosts(const Program &program,
                                            std::span<const SelectionRule> rules,
                                            const RuleGrid &grid, const Watch &watch);

/// The choice of rules for one call.
struct RuleChoice {
  size_t call;                         ///< its number among the costs
  std::string chosen;                  ///< words
  const SelectionRule *rule = nullptr; ///< null: no rule fits
  uint64_t ns = 0;                     ///< 0: it has no time
};

/// Chosen collectives without a time among the costs are simulated, and added to them.
std::vector<RuleChoice> judgeRules(const Program &program, std::span<const SelectionRule> rules,
                                   const RuleGrid &grid, std::vector<RuleCosts> &costs);

} // namespace colldsl::driver
