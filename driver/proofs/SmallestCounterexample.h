/// The search for the smallest number of ranks at which a collective is wrong.
#pragma once

#include "driver/proofs/ProofSummary.h"

#include <chrono>

namespace colldsl::driver {

/// The limits of a search: both are kept.
struct SearchLimits {
  uint32_t ranks = 64; ///< the largest number of ranks that is tried
  std::chrono::milliseconds time = std::chrono::seconds(60);
};

struct SmallestCounterexample {
  std::optional<Summary>
      refused; ///< all proofs at the smallest number of ranks of which one failed
  std::vector<uint32_t> provedRanks; ///< smaller numbers that `where` allows, without a failure
  bool isOutOfTime = false;          ///< larger numbers within the limit were not tried
};

/// Proves the target at 1, 2, 3, ... ranks, with the sizes, roots, parameters and machines of the
/// request, until a proof fails or a limit is reached. `request.ranks` is not read. Reports to
/// `progress` as a Watch does. An error: the request does not fit the collective.
Result<SmallestCounterexample>
findSmallestCounterexample(Source &source, const Source::Target &target, ProofRequest request,
                           const SearchLimits &limits,
                           const std::function<void(const Reached &)> &progress = nullptr);

} // namespace colldsl::driver
