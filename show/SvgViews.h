/// One function per picture. Internal to this folder.
#pragma once

#include "show/Document.h"
#include "show/SvgCanvas.h"

namespace colldsl::show {

/// "send to rank 3", "combine".
std::string opName(const Op &op);
/// The class of its bar.
const char *classOf(OpKind kind);

void drawSpaceTime(const Document &document, llvm::raw_ostream &out);
void drawMatrix(const Document &document, llvm::raw_ostream &out);
void drawGraph(const Document &document, llvm::raw_ostream &out);
/// The first schedule has ops, and that rank.
void drawDag(const Document &document, uint32_t rank, llvm::raw_ostream &out);

} // namespace colldsl::show
