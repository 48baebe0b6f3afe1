#include "show/SvgViews.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

// The communication graph. Messages that form a tree, from its root or to it, are drawn as a tree.
// All others are drawn between nodes on a ring, around which arcs show the groups of each level of
// the machine.

namespace colldsl::show {
namespace {

/// Nodes and the messages between them. A node is a rank, or a power of two of consecutive ranks,
/// so that there are at most kMostNodes, and halves of a butterfly and subtrees of a binomial tree
/// stay whole.
struct Graph {
  static constexpr uint32_t kMostNodes = 128; ///< as MOST_NODES in web/graph.js
  static constexpr uint32_t kNone = 0xffffffffu;

  explicit Graph(const ShownSchedule &shown) {
    const Matrix &matrix = shown.matrix;
    uint32_t fold = std::bit_ceil((matrix.size() + kMostNodes - 1) / kMostNodes);
    nodes = (matrix.size() + fold - 1) / fold;
    perNode = fold * matrix.ranksPerCell;
    for (const Matrix::Cell &cell : matrix.cells)
      if (cell.from / fold != cell.to / fold)
        links[{cell.from / fold, cell.to / fold}] += cell.bytes;
    for (const auto &[ends, bytes] : links)
      most = std::max(most, bytes);
  }

  /// The parent of each node, kNone for the root; empty: the links form no tree. isReversed:
  /// messages go to the root.
  std::vector<uint32_t> parents(bool isReversed) const {
    std::vector<uint32_t> parent(nodes, kNone);
    for (const auto &[ends, bytes] : links) {
      uint32_t child = isReversed ? ends.first : ends.second;
      if (parent[child] != kNone)
        return {};
      parent[child] = isReversed ? ends.second : ends.first;
    }
    if (nodes < 2 || std::count(parent.begin(), parent.end(), kNone) != 1)
      return {};
    for (uint32_t i = 0; i < nodes; ++i) {
      uint32_t steps = 0;
      for (uint32_t at = i; parent[at] != kNone; at = parent[at])
        if (++steps > nodes)
          return {}; // a cycle beside the tree
    }
    return parent;
  }

  uint32_t nodes = 1, perNode = 1;
  uint64_t most = 1;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> links; ///< bytes
};

class GraphSvg {
public:
  GraphSvg(const ShownSchedule &shown, SvgCanvas &svg)
      : shown_(shown), svg_(svg), graph_(shown), x_(graph_.nodes), y_(graph_.nodes) {
    constexpr double kLeast = 11, kGlyph = 7, kAround = 3;
    auto longest = static_cast<double>(nameOf(graph_.nodes - 1).size());
    node_ = std::max(kLeast, longest * kGlyph / 2 + kAround);
    parents_ = graph_.parents(false);
    if (parents_.empty()) {
      parents_ = graph_.parents(true);
      isReversed_ = !parents_.empty();
    }
    if (shown.topology && parents_.empty())
      levels_ = shownLevels(*shown.topology);
  }

  void draw(llvm::raw_ostream &out) {
    parents_.empty() ? placeRing() : placeTree();
    for (const auto &[ends, bytes] : graph_.links)
      drawLink(ends.first, ends.second, bytes);
    for (uint32_t i = 0; i < graph_.nodes; ++i) {
      svg_.circle(x_[i], y_[i], node_, "node");
      svg_.text(x_[i], y_[i] + 4, nameOf(i), "middle");
    }
    drawLevels();
    double y = svg_.paragraph(kLeft, bottom_ + 14, words(), right_ - kLeft, "muted");
    svg_.finish(right_ + kLeft, y, out);
  }

private:
  static constexpr double kLeft = 20, kTop = 44;

  void placeRing() {
    constexpr double kName = 56;
    double apart = 2 * node_ + 14;
    radius_ = std::max(90.0, graph_.nodes * apart / (2 * std::numbers::pi));
    double reach = radius_ + node_ + 8;
    if (!levels_.empty())
      reach += 22 + kArc * static_cast<double>(levels_.size());
    double wide = reach + (levels_.empty() ? 0 : kName);
    cx_ = std::max(kLeft + wide, kLeft + 200);
    cy_ = kTop - 8 + reach;
    for (uint32_t i = 0; i < graph_.nodes; ++i) {
      x_[i] = cx_ + radius_ * std::cos(angle(i));
      y_[i] = cy_ + radius_ * std::sin(angle(i));
    }
    right_ = std::max(cx_ + wide, kLeft + 380);
    bottom_ = cy_ + reach;
  }

  /// Places leaves side by side, parents above the middle of their children.
  void placeTree() {
    constexpr double kLayer = 76;
    double apart = 2 * node_ + 16;
    std::vector<std::vector<uint32_t>> children(graph_.nodes);
    uint32_t root = 0;
    for (uint32_t i = 0; i < graph_.nodes; ++i)
      if (parents_[i] == Graph::kNone)
        root = i;
      else
        children[parents_[i]].push_back(i);
    double leaf = kLeft + node_, lowest = 0;
    std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}}; // a node, and its next child
    y_[root] = kTop + node_;
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (next < children[node].size()) {
        uint32_t child = children[node][next++];
        y_[child] = y_[node] + kLayer;
        stack.push_back({child, 0});
        continue;
      }
      if (children[node].empty()) {
        x_[node] = leaf;
        leaf += apart;
      } else {
        x_[node] = (x_[children[node].front()] + x_[children[node].back()]) / 2;
      }
      lowest = std::max(lowest, y_[node]);
      stack.pop_back();
    }
    right_ = std::max(leaf, kLeft + 380);
    bottom_ = lowest + node_ + 6;
  }

  double angle(double i) const {
    return 2 * std::numbers::pi * i / graph_.nodes - std::numbers::pi / 2;
  }

  void drawLink(uint32_t from, uint32_t to, uint64_t bytes) {
    constexpr size_t kDense = 600;
    double dx = x_[to] - x_[from], dy = y_[to] - y_[from], length = std::hypot(dx, dy);
    double ux = dx / length * (node_ + 2), uy = dy / length * (node_ + 2);
    double share = static_cast<double>(bytes) / static_cast<double>(graph_.most);
    double gap = length - 2 * (node_ + 2), width = std::min(0.8 + 2.4 * share, gap / 5);
    double bend = parents_.empty() ? std::min(12.0, gap / 16) : 0;
    svg_.begin(nodeWords(from) + " to " + nodeWords(to) + ": " + std::to_string(bytes) + " B");
    svg_.arrow(x_[from] + ux, y_[from] + uy, x_[to] - ux, y_[to] - uy, "arrow",
               {width, bend, graph_.links.size() > kDense ? 0.3 : 1});
    svg_.end();
  }

  /// The label in a node's circle: "12", or "96+" for several ranks.
  std::string nameOf(uint32_t node) const {
    return std::to_string(node * graph_.perNode) + (graph_.perNode > 1 ? "+" : "");
  }

  std::string nodeWords(uint32_t node) const {
    uint32_t first = node * graph_.perNode, last = std::min(shown_.ranks, first + graph_.perNode);
    return "rank " + std::to_string(first) +
           (last > first + 1 ? " to " + std::to_string(last - 1) : "");
  }

  /// The innermost arcs are the smallest groups. Only the outermost level has room for its names.
  void drawLevels() {
    for (size_t i = 0; i < levels_.size(); ++i) {
      const ShownLevel &level = levels_[levels_.size() - 1 - i];
      double radius = radius_ + node_ + 14 + kArc * static_cast<double>(i);
      for (uint32_t node = 0; node < graph_.nodes;) {
        uint32_t group = level.groupOf[node * graph_.perNode], end = node + 1;
        while (end < graph_.nodes && level.groupOf[end * graph_.perNode] == group)
          ++end;
        drawArc(radius, node - kHalf, end - 1 + kHalf, group);
        if (i + 1 == levels_.size())
          nameGroup(radius + 12, (node + end - 1) / 2.0, level.name + " " + std::to_string(group));
        node = end;
      }
    }
  }

  void drawArc(double radius, double from, double to, uint32_t group) {
    auto at = [&](double i) {
      return llvm::formatv("{0:f1},{1:f1}", cx_ + radius * std::cos(angle(i)),
                           cy_ + radius * std::sin(angle(i)))
          .str();
    };
    bool isLarge = to - from > graph_.nodes / 2.0;
    svg_.path(
        llvm::formatv("M{0} A{1:f1},{1:f1} 0 {2} 1 {3}", at(from), radius, isLarge ? 1 : 0, at(to))
            .str(),
        group % 2 ? "levelB" : "levelA");
  }

  void nameGroup(double radius, double at, const std::string &name) {
    double dx = std::cos(angle(at)), dy = std::sin(angle(at));
    const char *anchor = dx > 0.3 ? "start" : dx < -0.3 ? "end" : "middle";
    svg_.text(cx_ + radius * dx, cy_ + radius * dy + 4, name, anchor, "muted");
  }

  std::string words() const {
    std::string text = graph_.perNode > 1 ? "A node: " + std::to_string(graph_.perNode) +
                                                " ranks; messages among them are left out."
                                          : "Nodes: ranks.";
    text += " Width of an arrow: bytes, " + sizeWords(graph_.most) + " at most.";
    if (isReversed_)
      text += " All messages lead to the root.";
    if (levels_.empty())
      return text;
    text += " Arcs, from inside:";
    for (size_t i = levels_.size(); i-- > 0;)
      text += " " + levels_[i].name + (i > 0 ? "," : ".");
    return text;
  }

  static constexpr double kArc = 9, kHalf = 0.38;
  const ShownSchedule &shown_;
  SvgCanvas &svg_;
  Graph graph_;
  std::vector<uint32_t> parents_; ///< of a tree
  bool isReversed_ = false;
  std::vector<ShownLevel> levels_; ///< around a ring
  std::vector<double> x_, y_;
  double node_ = 0; ///< radius of a node
  double radius_ = 0, cx_ = 0, cy_ = 0, right_ = 0, bottom_ = 0;
};

} // namespace

void drawGraph(const Document &document, llvm::raw_ostream &out) {
  const ShownSchedule &shown = document.schedules.front();
  SvgCanvas svg(shown.label);
  svg.heading(20, shown.label);
  GraphSvg(shown, svg).draw(out);
}

} // namespace colldsl::show
