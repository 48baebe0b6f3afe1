/// All proofs of one collective, and the collectives that a request names.
#pragma once

#include "driver/proofs/ProofSummary.h"

namespace colldsl::driver {

/// The collectives and schedules that a request is for; a function stands for all collectives that
/// its rules name. Empty after a mistake, which is reported.
std::vector<Source::Target> chooseToProve(Source &source, const ProofRequest &request);

/// Proves the target on all cores. An error, which is reported as Source::render() shows it: the
/// request does not fit the collective, or the watch stopped the proofs.
Result<Summary> proveTarget(Proofs &proofs, const Source &source, const Source::Target &target,
                            const Watch &watch = {});

} // namespace colldsl::driver
