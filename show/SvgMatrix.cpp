#include "show/SvgViews.h"

#include <algorithm>
#include <cmath>

namespace colldsl::show {
namespace {

uint64_t mostBytes(const Matrix &matrix) {
  uint64_t most = 1;
  for (const Matrix::Cell &cell : matrix.cells)
    most = std::max(most, cell.bytes);
  return most;
}

std::string bytesNote(const Matrix &matrix) {
  return std::to_string(mostBytes(matrix)) + " B, the most" +
         (matrix.ranksPerCell > 1
              ? "; a cell stands for " + std::to_string(matrix.ranksPerCell) + " ranks each way"
              : "");
}

} // namespace

void drawMatrix(const Document &document, llvm::raw_ostream &out) {
  constexpr double kLeft = 80, kTop = 80, kSide = 520, kLeast = 0.12;
  const ShownSchedule &shown = document.schedules.front();
  const Matrix &matrix = shown.matrix;
  SvgCanvas svg(shown.label);
  svg.heading(kLeft, shown.label);
  double cell = kSide / matrix.size(), gap = cell > 6 ? 1 : 0;
  auto most = static_cast<double>(mostBytes(matrix));
  for (const Matrix::Cell &c : matrix.cells) {
    double share = std::sqrt(static_cast<double>(c.bytes) / most);
    svg.begin("from " + std::to_string(c.from * matrix.ranksPerCell) + " to " +
              std::to_string(c.to * matrix.ranksPerCell) + ": " + std::to_string(c.messages) +
              " messages, " + std::to_string(c.bytes) + " B");
    svg.rect(kLeft + c.to * cell, kTop + c.from * cell, cell - gap, cell - gap, "cell",
             kLeast + (1 - kLeast) * share);
    svg.end();
  }
  svg.rect(kLeft, kTop, kSide, kSide, "axis");
  auto every = static_cast<uint32_t>(std::max(1.0, stepFor(matrix.size(), 16)));
  for (uint32_t i = 0; i < matrix.size(); i += every) {
    std::string rank = std::to_string(i * matrix.ranksPerCell);
    svg.text(kLeft + (i + 0.5) * cell, kTop - 8, rank, "middle");
    svg.text(kLeft - 6, kTop + (i + 0.5) * cell + 4, rank, "end");
  }
  svg.text(kLeft + kSide / 2, kTop - 28, "receiver, rank", "middle", "muted");
  svg.text(kLeft - 6, kTop - 8, "sender, rank", "end", "muted");
  svg.legend(kLeft, kTop + kSide + 16, {{"cell", bytesNote(matrix)}});
  svg.finish(kLeft + kSide + 30, kTop + kSide + 44, out);
}

} // namespace colldsl::show
