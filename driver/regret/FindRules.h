/// Finds rules from predicted times: short lists that choose nearly the best at all calls.
///
/// For each function the calls are split, by one condition at a time (bytes, bytes of all ranks,
/// nodes, ranks of a node, ranks, TCP), where that gains most: a tree of decisions whose leaves
/// name the collective that is best over all calls of the leaf. No rule names one that cannot serve
/// some of the calls. Splits that gain too little are pruned. The tree is written as rules, the
/// first that fits serves.
#pragma once

#include "driver/regret/RuleCosts.h"

namespace colldsl::driver {

struct FindSettings {
  /// A rule more reduces the sum of the logarithms of the regrets by this at least.
  double leastGain = 0.5;
  /// Regrets beyond it count several times.
  double mostRegret = 1.4;
  uint32_t leastNodes = 1; ///< a condition of all rules
};

/// Rules for the functions of the costs, a line each. A function without times has none.
std::vector<std::string> findRules(const Program &program, const std::vector<RuleCosts> &costs,
                                   const FindSettings &settings);

} // namespace colldsl::driver
