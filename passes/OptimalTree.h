/// Optimal tree: binds tuning parameters that are trees to the tree in which the last rank learns
/// earliest. `postal` takes the one of the postal model, `optimal(root, latency)` in the language,
/// with the latency that LogGP gives for a message of this size: short messages get flat trees,
/// long ones binomial trees. `exact` takes the best tree in LogGP itself.
///
/// example: 8 bytes, L = 2500, o = 1500, g = 1000, G = 6: a message takes 5542 ns to arrive and
/// 1500 ns to send, so latency 4
/// bound: n log n
/// source: A. Bar-Noy, S. Kipnis, "Designing broadcasting algorithms in the postal model", 1992;
/// see passes/BestTree.h
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct OptimalTree {
  enum class Form : uint8_t { Postal, Exact };
  Form form = Form::Postal;
  uint64_t bytes = 0;

  void describe(PassOptions &options);
};

Result<BindOutcome> bindOptimalTree(const BindContext &context, const OptimalTree &options);

} // namespace colldsl
