/// A failed proof as a page.
#pragma once

#include "driver/draw/MakeShown.h"
#include "driver/proofs/Proofs.h"
#include "show/Svg.h"

namespace colldsl::driver {

/// `task` is a proof of the target that the verifier refuses. Schedules that can run to their end
/// are simulated, too, with the usual model.
Result<show::Document> failureDocument(const Source &source, const Source::Target &target,
                                       const Proofs &proofs, const ProofTask &task);

/// Writes the document to a file, as HTML, or as a picture if `svg` is not null.
Status writeFailurePage(const std::string &file, const Source &source, const Source::Target &target,
                        const Proofs &proofs, const ProofTask &task,
                        const show::SvgChoice *svg = nullptr);

} // namespace colldsl::driver
