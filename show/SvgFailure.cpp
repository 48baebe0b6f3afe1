#include "show/FailureGraph.h"
#include "show/SvgViews.h"

#include <algorithm>

namespace colldsl::show {
namespace {

constexpr double kLeft = 78, kBox = 196, kBoxHeight = 42, kColumn = 262, kRow = 76;

class FailureSvg {
public:
  FailureSvg(const ShownSchedule &shown, const ShownFailure &failure, const FailureGraph &graph,
             double top, SvgCanvas &svg)
      : shown_(shown), failure_(failure), graph_(graph), top_(top), svg_(svg) {}

  /// Returns the bottom.
  double draw() {
    for (const FailureGraph::Lane &lane : graph_.lanes)
      svg_.text(kLeft - 12, y(lane.firstRow) + kBoxHeight / 2 + 4,
                "rank " + std::to_string(lane.rank), "end", "muted");
    for (const FailureGraph::Edge &edge : graph_.edges)
      drawEdge(edge);
    for (const FailureGraph::Node &node : graph_.nodes)
      drawNode(node);
    return top_ + graph_.numRows() * kRow;
  }

  void drawLegend(double y) {
    std::vector<std::pair<llvm::StringRef, std::string>> entries{{"named", "named by the failure"}};
    if (graph_.isRace) {
      entries.push_back({"first", "before the first op" + more(0)});
      entries.push_back({"second", "before the second" + more(1)});
      entries.push_back({"node", "before both"});
    }
    bool isCycle = failure_.what.proof == proof::Proof::Deadlock;
    if (isCycle)
      entries.push_back({"cycle", "waits for, all around the cycle"});
    svg_.legend(kLeft, y, entries);
  }

private:
  double x(uint32_t column) const { return kLeft + column * kColumn; }
  double y(uint32_t row) const { return top_ + row * kRow; }

  std::string more(size_t side) const {
    uint64_t count = graph_.leftOut[side];
    return count ? ", and " + std::to_string(count) + " more" : "";
  }

  void drawNode(const FailureGraph::Node &node) {
    const char *kind = node.isNamed                          ? "named"
                       : node.cones == FailureGraph::kFirst  ? "first"
                       : node.cones == FailureGraph::kSecond ? "second"
                                                             : "node";
    const Op &op = shown_.ops->at(node.op);
    uint32_t number = node.op - shown_.ops->first[shown_.ops->rankOf(node.op)];
    double left = x(node.column), top = y(node.row);
    svg_.rect(left, top, kBox, kBoxHeight, kind);
    svg_.text(left + 8, top + 17,
              fitted(std::to_string(number) + ": " + opName(op) + ", " +
                         sizeWords(shown_.ops->bytes[node.op]),
                     kBox - 12));
    bool isKnown = op.loc.known() && op.loc.file < shown_.files.size();
    std::string text = isKnown ? shown_.textAt(op.loc) : "";
    if (text.empty() && isKnown)
      text = "line " + std::to_string(op.loc.line);
    svg_.text(left + 8, top + 33, fitted(text, kBox - 12), "start", "muted");
  }

  void drawEdge(const FailureGraph::Edge &edge) {
    using Way = FailureGraph::Way;
    const FailureGraph::Node &a = graph_.nodes[edge.from], &b = graph_.nodes[edge.to];
    constexpr const char *kKinds[] = {"arrow", "start", "message", "cycle", "missing"};
    const char *kind = kKinds[static_cast<size_t>(edge.way)];
    if (edge.way == Way::Missing)
      return drawMissing(a.column <= b.column ? a : b, a.column <= b.column ? b : a);
    double width = edge.way == Way::Cycle ? 2.2 : 1.3;
    if (a.column == b.column)
      return acrossRows(a, b, kind, width);
    bool isRight = b.column > a.column;
    uint32_t apart = isRight ? b.column - a.column : a.column - b.column;
    if (a.row == b.row && apart > 1) { // bent over the nodes between
      double bend = (isRight ? -1 : 1) * (16 + 4.0 * apart);
      return svg_.arrow(x(a.column) + kBox * 0.7, y(a.row), x(b.column) + kBox * 0.3, y(b.row),
                        kind, {width, bend, 1});
    }
    svg_.arrow(x(a.column) + (isRight ? kBox : 0), y(a.row) + kBoxHeight / 2,
               x(b.column) + (isRight ? 0 : kBox), y(b.row) + kBoxHeight / 2, kind, {width, 0, 1});
  }

  /// Draws an arrow within a column: straight to the next row, else bent around the nodes between.
  void acrossRows(const FailureGraph::Node &a, const FailureGraph::Node &b, const char *kind,
                  double width) {
    bool isDown = b.row > a.row;
    uint32_t apart = isDown ? b.row - a.row : a.row - b.row;
    if (apart == 1)
      return svg_.arrow(x(a.column) + kBox / 2, y(a.row) + (isDown ? kBoxHeight : 0),
                        x(b.column) + kBox / 2, y(b.row) + (isDown ? 0 : kBoxHeight), kind,
                        {width, 0, 1});
    double right = x(a.column) + kBox;
    svg_.arrow(right, y(a.row) + kBoxHeight / 2, right, y(b.row) + kBoxHeight / 2, kind,
               {width, isDown ? -26.0 : 26.0, 1});
  }

  /// Draws the missing edge. The space to the right of both ops is free: they are the last ones in
  /// their rows.
  void drawMissing(const FailureGraph::Node &left, const FailureGraph::Node &right) {
    bool isDown = right.row > left.row, isStraight = left.column == right.column;
    double middle = x(right.column) + kBox / 2, x1 = x(left.column) + kBox;
    double y1 = y(left.row) + (isStraight ? (isDown ? kBoxHeight : 0) : kBoxHeight / 2);
    double y2 = y(right.row) + (isDown ? 0 : kBoxHeight);
    std::string corner = isStraight
                             ? llvm::formatv("M{0:f1},{1:f1}", middle, y1).str()
                             : llvm::formatv("M{0:f1},{1:f1} L{2:f1},{1:f1}", x1, y1, middle).str();
    svg_.path(llvm::formatv("{0} L{1:f1},{2:f1}", corner, middle, y2).str(), "missing");
    svg_.text(isStraight ? middle + 8 : x1 + 12, isStraight ? (y1 + y2) / 2 + 4 : y1 - 7,
              "no path: nothing orders these two", "start", "badText");
  }

  const ShownSchedule &shown_;
  const ShownFailure &failure_;
  const FailureGraph &graph_;
  double top_;
  SvgCanvas &svg_;
};

std::string stepWords(const proof::Failure::Step &step, const std::string &place) {
  std::string words = step.rank == kNoRank ? "" : "rank " + std::to_string(index(step.rank));
  if (step.op != kNoOp)
    words += ", op " + std::to_string(index(step.op));
  return (words.empty() ? "" : words + ": ") + step.text +
         (place.empty() ? "" : " (" + place + ")");
}

} // namespace

Status drawFailure(const Document &document, const SvgChoice &choice, llvm::raw_ostream &out) {
  constexpr double kWidth = 620, kText = 20;
  const ShownSchedule &shown = document.schedules.front();
  const ShownFailure &failure = document.failures.front();
  FailureGraph graph = failureGraph(*shown.ops, failure.what);
  bool showsBytes = graph.nodes.empty() && whyNotTraced(shown).empty();
  double width = std::max(showsBytes ? kPanelsWidth : kWidth,
                          graph.numColumns() * kColumn - (kColumn - kBox) + kLeft - kText);
  SvgCanvas svg(document.title);
  svg.heading(kText, document.title);
  double y = svg.paragraph(kText, 40,
                           std::string(spelling(failure.what.proof)) + ": " + failure.what.message,
                           width, "badText");
  if (showsBytes) {
    Result<double> bottom = drawPanels(shown, choice, svg, y + 26);
    if (!bottom)
      return bottom.status();
    y = *bottom + 10;
  } else {
    FailureSvg picture(shown, failure, graph, y + 26, svg);
    y = picture.draw();
    picture.drawLegend(y);
    y += 30;
  }
  for (size_t i = 0; i < failure.what.steps.size(); ++i)
    y = svg.paragraph(kText, y,
                      std::to_string(i + 1) + ". " +
                          stepWords(failure.what.steps[i], failure.places[i]),
                      width, "muted");
  svg.finish(width + 2 * kText, y, out);
  return {};
}

} // namespace colldsl::show
