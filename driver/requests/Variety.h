/// Variation of the parameters that --set does not give.
#pragma once

#include <cstdint>
#include <vector>

namespace colldsl::driver {

/// The choice of values for parameters without a given one.
struct Variety {
  bool tryValues = false;      ///< those without a default: see TrialValues.h; and a reduction
                               ///< that does not commute besides the default
  bool everyRoot = false;      ///< each rank in turn for a parameter called `root`
  std::vector<uint32_t> roots; ///< or these ranks
  bool vary = false;     ///< `root` by eachRank(), if nothing else sets it; other parameters one by
                         ///< one, at the first and the last root: those with candidates at each
                         ///< end, bools, ranks; and graphs without regularity
  bool thorough = false; ///< that at each root; more lengths of blocks, and of those graphs
};

} // namespace colldsl::driver
