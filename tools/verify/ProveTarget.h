/// The options of `verify`, and all proofs of one collective.
#pragma once

#include "tools/verify/ProofSummary.h"

#include <atomic>

namespace colldsl::tools {

struct ProofOptions {
  ScheduleOptions schedule;
  ProofRequest request;

  ProofOptions() {
    request.variety.tryValues = request.variety.vary = request.variesMachine = true;
  }

  /// This object outlives the parse.
  void addTo(Options &options);
};

/// Proves the target on all cores. An error, which is reported as Source::render() shows it: the
/// options do not fit the collective, or `stop` became true, which is checked before each proof.
Result<Summary> proveTarget(Proofs &proofs, const Source &source, const Source::Target &target,
                            const ProofOptions &options, const std::atomic<bool> *stop = nullptr);

} // namespace colldsl::tools
