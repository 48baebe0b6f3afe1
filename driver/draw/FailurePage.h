/// A failed proof as a page.
#pragma once

#include "driver/draw/MakeShown.h"
#include "driver/proofs/Proofs.h"
#include "show/Svg.h"

namespace colldsl::driver {

/// Writes the page of a proof of the target that the verifier refuses. Schedules that can run to
/// their end are simulated, too, with the usual model. `svg`: a picture of that form instead; null:
/// HTML.
Status writeFailurePage(const std::string &file, const Source &source, const Source::Target &target,
                        const Proofs &proofs, const ProofTask &task,
                        const show::SvgChoice *svg = nullptr);

} // namespace colldsl::driver
