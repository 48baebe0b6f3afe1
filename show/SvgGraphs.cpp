#include "show/SvgViews.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

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
  svg.text(kLeft, 20, shown.label, "start", "title");
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

namespace {

/// Ranks, or as many neighbouring ones as leave kMostNodes, on a ring.
class RingSvg {
public:
  RingSvg(const ShownSchedule &shown, SvgCanvas &svg) : shown_(shown), svg_(svg) {
    const Matrix &matrix = shown.matrix;
    fold_ = (matrix.size() + kMostNodes - 1) / kMostNodes;
    nodes_ = (matrix.size() + fold_ - 1) / fold_;
    radius_ = std::max(90.0, nodes_ * 24 / (2 * std::numbers::pi));
    for (const Matrix::Cell &cell : matrix.cells)
      links_[{cell.from / fold_, cell.to / fold_}] += cell.bytes;
  }

  /// Returns the side of the square that it fills.
  double draw(double left, double top) {
    constexpr double kMargin = 60;
    cx_ = left + radius_ + kMargin;
    cy_ = top + radius_ + kMargin;
    for (const auto &[ends, bytes] : links_)
      if (ends.first != ends.second)
        drawLink(ends.first, ends.second);
    for (uint32_t i = 0; i < nodes_; ++i) {
      svg_.circle(x(i), y(i), kNode, "node");
      svg_.text(x(i), y(i) + 4, std::to_string(i * perNode()) + (perNode() > 1 ? "+" : ""),
                "middle");
    }
    return 2 * (radius_ + kMargin);
  }

  uint32_t perNode() const { return fold_ * shown_.matrix.ranksPerCell; }

private:
  static constexpr uint32_t kMostNodes = 96;
  static constexpr double kNode = 11;

  double angle(uint32_t i) const {
    return 2 * std::numbers::pi * i / nodes_ - std::numbers::pi / 2;
  }
  double x(uint32_t i) const { return cx_ + radius_ * std::cos(angle(i)); }
  double y(uint32_t i) const { return cy_ + radius_ * std::sin(angle(i)); }

  void drawLink(uint32_t from, uint32_t to) {
    double dx = x(to) - x(from), dy = y(to) - y(from), length = std::hypot(dx, dy);
    double ux = dx / length * (kNode + 2), uy = dy / length * (kNode + 2);
    svg_.arrow(x(from) + ux, y(from) + uy, x(to) - ux, y(to) - uy, "arrow");
  }

  const ShownSchedule &shown_;
  SvgCanvas &svg_;
  uint32_t fold_ = 1, nodes_ = 1;
  double radius_ = 0, cx_ = 0, cy_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> links_;
};

} // namespace

void drawGraph(const Document &document, llvm::raw_ostream &out) {
  const ShownSchedule &shown = document.schedules.front();
  SvgCanvas svg(shown.label);
  svg.text(20, 20, shown.label, "start", "title");
  RingSvg ring(shown, svg);
  double side = ring.draw(10, 24);
  std::string words = ring.perNode() > 1
                          ? "a node: " + std::to_string(ring.perNode()) + " ranks; arrows: messages"
                          : "nodes: ranks; arrows: messages";
  svg.legend(20, side + 28, {{"", words}});
  svg.finish(side + 20, side + 52, out);
}

void drawDag(const Document &document, uint32_t rank, llvm::raw_ostream &out) {
  constexpr double kWidth = 150, kHeight = 26, kLayer = 200, kSlot = 36, kLeft = 20, kTop = 40;
  const ShownSchedule &shown = document.schedules.front();
  const Dag &dag = shown.schedule->ranks[rank];
  SvgCanvas svg(shown.label + ", rank " + std::to_string(rank));
  svg.text(kLeft, 20, shown.label + ": the ops of rank " + std::to_string(rank), "start", "title");
  std::vector<uint32_t> layer(dag.size()), slot(dag.size()), used;
  for (uint32_t i = 0; i < dag.size(); ++i) {
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      layer[i] = std::max(layer[i], layer[index(dep.op)] + 1);
    used.resize(std::max<size_t>(used.size(), layer[i] + 1));
    slot[i] = used[layer[i]]++;
  }
  auto x = [&](uint32_t op) { return kLeft + layer[op] * kLayer; };
  auto y = [&](uint32_t op) { return kTop + slot[op] * kSlot; };
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      svg.arrow(x(index(dep.op)) + kWidth, y(index(dep.op)) + kHeight / 2, x(i), y(i) + kHeight / 2,
                "arrow");
  for (uint32_t i = 0; i < dag.size(); ++i) {
    svg.rect(x(i), y(i), kWidth, kHeight, "node");
    svg.rect(x(i), y(i), 5, kHeight, classOf(dag.ops[i].kind));
    svg.text(x(i) + 11, y(i) + 17, std::to_string(i) + ": " + opName(dag.ops[i]));
  }
  uint32_t rows = used.empty() ? 1 : *std::max_element(used.begin(), used.end());
  double bottom = kTop + rows * kSlot + 6;
  svg.legend(kLeft, bottom,
             {{"send", "send"}, {"receive", "receive"}, {"local", "copy, combine, calc"}});
  svg.finish(kLeft + std::max<double>(2, static_cast<double>(used.size())) * kLayer, bottom + 24,
             out);
}

} // namespace colldsl::show
