/// Pictures for papers: SVG without scripts, light and dark.
#pragma once

#include "show/Document.h"

namespace colldsl::show {

/// The part of a schedule that some views draw.
struct SvgChoice {
  uint32_t rank = 0;             ///< "dag": the rank of the ops
  std::optional<uint32_t> round; ///< "provenance": the round to show; none: all
  std::string buffer;            ///< "provenance": empty: the first result
};

/// True if the view can be drawn; "compare" is a table.
bool hasSvg(llvm::StringRef view);

/// Draws Document::view, which has passed checkView(). An error: the part that `choice` names does
/// not exist, or there is too much to draw.
Status writeSvg(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out);

} // namespace colldsl::show
