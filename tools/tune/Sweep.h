/// Measures the candidates for functions, on the ranks of the call. Each point, a function with so
/// many bytes, has a contest (Contest.h) between its candidates and the choice of the rules.
#pragma once

#include "protocol/Endpoint.h"
#include "select/Candidate.h"
#include "tools/tune/Alternation.h"
#include "tools/tune/TimingNoise.h"

#include <atomic>

namespace colldsl::tools {

struct SweptPoint {
  TuningPoint point;
  Noise noise;
};

struct SweepOptions {
  std::chrono::nanoseconds limit;              ///< for all points; a point in progress is finished
  const std::atomic<uint32_t> *stop = nullptr; ///< not 0: no further point begins
  double noiseLimit = kUsualNoise;             ///< points with more are measured again
  double quietNs = 0;                          ///< of a barrier of these ranks; 0: not known
  /// Called on rank 0 after each point, with the number of points that are done.
  std::function<void(size_t done, const SweptPoint &)> progress;
};

/// Collective. The measured points in their order, equal on all ranks; also those that are too
/// noisy to be used.
Result<std::vector<SweptPoint>> sweep(Endpoint &endpoint, const Topology &topology,
                                      Library &library,
                                      const std::vector<CandidatesOfPoint> &points,
                                      const SweepOptions &options);

/// The times of a point with the decisions and without.
struct ComparedRow {
  size_t point = 0; ///< its number
  double shippedNs = 0, tunedNs = 0;
  Ratio ratio; ///< of these
  Noise noise;
};

/// Collective. Compares as many points as time allows, in their order.
Result<std::vector<ComparedRow>> compareLibraries(Endpoint &endpoint, const Topology &topology,
                                                  Library &shipped, Library &tuned,
                                                  const std::vector<CandidatesOfPoint> &points,
                                                  const SweepOptions &options);

} // namespace colldsl::tools
