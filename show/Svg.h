/// Pictures for papers: SVG without scripts, light and dark.
#pragma once

#include "show/Document.h"

namespace colldsl::show {

/// The part of a schedule that some views draw.
struct SvgChoice {
  uint32_t rank = 0;             ///< "dag": whose ops
  std::optional<uint32_t> round; ///< "provenance": after which one; none: all of them
  std::string buffer;            ///< "provenance": empty: the first result
};

/// True if the view can be drawn; "compare" is a table.
bool hasSvg(llvm::StringRef view);

/// The view of Document::view, of which checkView() has nothing to say. An error: what `choice`
/// names is not there, or there is too much to draw.
Status writeSvg(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out);

} // namespace colldsl::show
