/// Measures what can be done for functions, on the ranks that do it: a contest (Contest.h) for each
/// point, a function for so many bytes, of all its candidates and what the rules choose.
#pragma once

#include "protocol/Endpoint.h"
#include "runtime/Candidates.h"
#include "tools/tune/Alternation.h"
#include "tools/tune/TimingNoise.h"

#include <atomic>

namespace colldsl::tools {

struct SweptPoint {
  TuningPoint point;
  Noise noise;
};

struct SweepOptions {
  std::chrono::nanoseconds limit;              ///< for all points; one that was begun is finished
  const std::atomic<uint32_t> *stop = nullptr; ///< not 0: no further point is begun
  double noiseLimit = kUsualNoise;             ///< points with more are measured again
  double quietNs = 0;                          ///< of a barrier of these ranks; 0: not known
  /// On rank 0: so many points are done, of which this is the last one.
  std::function<void(size_t done, const SweptPoint &)> progress;
};

/// Collective. Points that were measured, in their order, alike on all ranks; those too that have
/// too much noise to be used.
Result<std::vector<SweptPoint>> sweep(Endpoint &endpoint, const Topology &topology,
                                      Library &library,
                                      const std::vector<CandidatesOfPoint> &points,
                                      const SweepOptions &options);

/// One call with decisions against one without.
struct ComparedRow {
  size_t point = 0; ///< its number
  double shippedNs = 0, tunedNs = 0;
  Ratio ratio; ///< of these
  Noise noise;
};

/// Collective. As many points as time allows, in their order.
Result<std::vector<ComparedRow>> compareLibraries(Endpoint &endpoint, const Topology &topology,
                                                  Library &shipped, Library &tuned,
                                                  const std::vector<CandidatesOfPoint> &points,
                                                  const SweepOptions &options);

} // namespace colldsl::tools
