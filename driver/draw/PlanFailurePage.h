/// A refused execution plan of MSCCL++ as a page.
#pragma once

#include "ir/Result.h"
#include "mscclpp/Prove.h"
#include "show/Svg.h"

namespace colldsl::driver {

/// Writes the first refusals of a plan that was read from `text`, the content of `planFile`: the
/// steps of the launches that were proved, the ops that a refusal names, and the order that is
/// missing. HTML, or a picture if `svg` is not null.
Status writePlanFailurePage(const std::string &file, const mscclpp::Plan &plan,
                            const mscclpp::Verdict &verdict, const std::string &planFile,
                            llvm::StringRef text, const show::SvgChoice *svg);

} // namespace colldsl::driver
