/// One function per picture. Internal to this folder.
#pragma once

#include "show/Document.h"
#include "show/Provenance.h"
#include "show/Svg.h"
#include "show/SvgCanvas.h"

namespace colldsl::show {

/// "send to rank 3", "combine".
std::string opName(const Op &op);
/// "64 KiB"
std::string sizeWords(uint64_t bytes);
/// The CSS class of the bars of such ops.
const char *classOf(OpKind kind);

void drawSpaceTime(const Document &document, llvm::raw_ostream &out);
void drawMatrix(const Document &document, llvm::raw_ostream &out);
void drawGraph(const Document &document, llvm::raw_ostream &out);
void drawLinks(const Document &document, llvm::raw_ostream &out);
/// Draws the contents of the ranks' buffers, a panel per round, and returns the bottom. The
/// schedule can be traced.
inline constexpr double kPanelsWidth = 964;
Result<double> drawPanels(const ShownSchedule &shown, const SvgChoice &choice, SvgCanvas &svg,
                          double top);
/// Draws the contents of buffers. The first schedule can be traced.
Status drawProvenance(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out);
/// Draws the first failure.
Status drawFailure(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out);
/// Draws the ops of a rank. The first schedule has ops, and that rank.
void drawDag(const Document &document, uint32_t rank, llvm::raw_ostream &out);

} // namespace colldsl::show
