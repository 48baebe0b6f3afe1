/// What is to be proved of collectives, as `verify` takes it, and all proofs of one of them.
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

/// On all cores. An error is reported as Source::render() shows it: the options make no sense for
/// this collective, or `stop` became true, which is looked at before each proof.
Result<Summary> proveTarget(Proofs &proofs, const Source &source, const Source::Target &target,
                            const ProofOptions &options, const std::atomic<bool> *stop = nullptr);

} // namespace colldsl::tools
