/// Measures what can be done for functions, on the ranks that do it: successive halving.
///
/// Each point (a function for so many bytes) begins with all of its candidates and what the rules
/// choose. In each round all run once, in turns; after some rounds the slower half is out. What is
/// left in the end runs in turns with the rules' choice alone, until the margin is known well.
/// Example: 8 candidates: 8 and the rules' choice, 4 and it, 2 and it, 1 and it.
/// bound: (1 + log2 candidates) * rounds calls of the rules' choice; the time that is given.
/// source: K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter
/// optimization (2016)
#pragma once

#include "runtime/Candidates.h"
#include "tools/tune/Alternation.h"
#include "transports/Transport.h"

#include <atomic>

namespace colldsl::tools {

struct SweepOptions {
  std::chrono::nanoseconds limit;              ///< for all points; one that was begun is finished
  const std::atomic<uint32_t> *stop = nullptr; ///< not 0: no further point is begun
  /// On rank 0: so many points are done, of which this is the last one.
  std::function<void(size_t done, const TuningPoint &)> progress;
};

/// Collective. Points that were measured, in their order, alike on all ranks.
Result<std::vector<TuningPoint>> sweep(Endpoint &endpoint, const Topology &topology,
                                       Library &library,
                                       const std::vector<CandidatesOfPoint> &points,
                                       const SweepOptions &options);

/// One call with decisions against one without.
struct ComparedRow {
  size_t point = 0; ///< its number
  double shippedNs = 0, tunedNs = 0;
  Ratio ratio; ///< of these
};

/// Collective. As many points as time allows, in their order.
Result<std::vector<ComparedRow>> compareLibraries(Endpoint &endpoint, const Topology &topology,
                                                  Library &shipped, Library &tuned,
                                                  const std::vector<CandidatesOfPoint> &points,
                                                  const SweepOptions &options);

} // namespace colldsl::tools
