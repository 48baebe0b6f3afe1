/// Tuning: fills each hole that has candidates (trees, segments, numbers) with the one that the
/// cost model likes best. Hole by hole the collective is instantiated with each candidate; what
/// is not better than the default stays.
///
/// example: bcast_tree of 1 MiB on 16 ranks: t = chain(root), segment = 16KiB
/// bound: the sum of the numbers of candidates, twice; intervals count by powers of two
/// source: the candidates are those of the program
#pragma once

#include "passes/Pass.h"

namespace colldsl {

struct Tune {
  uint64_t mostRanks = 512;

  void describe(PassOptions &options);
};

Result<HoleOutcome> tuneHoles(const HoleContext &context, const Tune &options);

} // namespace colldsl
