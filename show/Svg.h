/// Pictures for papers: SVG without scripts, light and dark.
#pragma once

#include "show/Document.h"

namespace colldsl::show {

/// Views that can be drawn: "space-time", "matrix", "graph", "dag".
bool hasSvg(llvm::StringRef view);

/// The view of Document::view. `rank`: whose ops "dag" draws. An error: there is nothing of that
/// kind to draw.
Status writeSvg(const Document &document, uint32_t rank, llvm::raw_ostream &out);

} // namespace colldsl::show
