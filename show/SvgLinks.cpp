#include "show/SvgViews.h"

#include <algorithm>
#include <cmath>
#include <numbers>

// Pictures of networks. A torus is a grid: the first dimension across, the others down; links that
// wrap around are stubs at both ends. A fat tree has a row per level. The switches of a dragonfly
// are a circle, group by group, with the nodes outside.

namespace colldsl::show {
namespace {

constexpr double kLeft = 92, kTop = 84, kNode = 12, kText = 20;

class LinksSvg {
public:
  LinksSvg(const Document &document, const ShownRun &run, SvgCanvas &svg)
      : network_(document.network), run_(run), svg_(svg) {
    for (const sim::LinkLoad &link : run.links)
      most_ = std::max(most_, link.bytes);
    place();
  }

  void draw(llvm::raw_ostream &out) {
    for (const sim::LinkLoad &link : run_.links)
      drawLink(link);
    for (const Node &node : nodes_) {
      svg_.circle(node.x, node.y, kNode, "node");
      svg_.text(node.x, node.y + 4, node.name, "middle", "", 2 * kNode + 4);
    }
    double y = drawLegend();
    svg_.finish(right_ + kLeft - 8, y + 6, out);
  }

private:
  struct Node {
    double x, y;
    std::string name;
    bool isSwitch = false;
  };
  struct Piece {
    double x1, y1, x2, y2;
    bool begins = true, ends = true; ///< at a node
  };

  using Kind = sim::NetworkOptions::Kind;
  bool isTorus() const { return network_.kind == Kind::Torus; }

  void add(double x, double y, std::string name, bool isSwitch) {
    nodes_.push_back({x, y, std::move(name), isSwitch});
    right_ = std::max(right_, x);
    bottom_ = std::max(bottom_, y);
  }

  void place() {
    switch (network_.kind) {
    case Kind::None:
      return;
    case Kind::Torus:
      return placeTorus();
    case Kind::FatTree:
      return placeTree();
    case Kind::Dragonfly:
      return placeDragonfly();
    }
  }

  void placeTorus() {
    uint32_t across = network_.dims.front();
    for (uint32_t i = 0; i < network_.numNodes(); ++i)
      add(kLeft + i % across * kAcross, kTop + i / across * kDown, std::to_string(i), false);
  }

  void placeTree() {
    constexpr double kApart = 48, kLevel = 110;
    double below = 1, levels = static_cast<double>(network_.dims.size());
    for (size_t level = 0; level <= network_.dims.size(); ++level) {
      auto count = static_cast<uint64_t>(static_cast<double>(network_.numNodes()) / below);
      for (uint64_t i = 0; i < count; ++i)
        add(kLeft + ((static_cast<double>(i) + 0.5) * below - 0.5) * kApart,
            kTop + (levels - static_cast<double>(level)) * kLevel, std::to_string(i), level > 0);
      if (level < network_.dims.size())
        below *= network_.dims[level];
    }
  }

  /// Between two groups there is room for a node.
  void placeDragonfly() {
    constexpr double kApart = 40, kOutside = 80, kLeastRadius = 70;
    uint64_t perSwitch = network_.dims[0], switches = network_.dims[1], groups = network_.dims[2];
    auto perGroup = static_cast<double>(perSwitch * switches);
    double room = (perGroup + 1) * static_cast<double>(groups);
    double inner = std::max(kLeastRadius, room * kApart / (2 * std::numbers::pi) - kOutside);
    double outer = inner + kOutside;
    auto place = [&](double turn, double radius, std::string name, bool isSwitch) {
      double angle = 2 * std::numbers::pi * turn / room;
      add(kLeft + outer + radius * std::sin(angle), kTop + outer - radius * std::cos(angle),
          std::move(name), isSwitch);
    };
    auto turnOf = [&](double node) { return node + std::floor(node / perGroup); };
    for (uint64_t i = 0; i < network_.numNodes(); ++i)
      place(turnOf(static_cast<double>(i)), outer, std::to_string(i), false);
    double middle = static_cast<double>(perSwitch - 1) / 2;
    for (uint64_t i = 0; i < switches * groups; ++i)
      place(turnOf(static_cast<double>(i * perSwitch) + middle), inner,
            std::to_string(i % switches), true);
  }

  /// True if a link of a torus wraps around: its ends are not adjacent in any dimension.
  bool isAround(uint32_t from, uint32_t to) const {
    uint64_t stride = 1, apart = from > to ? from - to : to - from;
    for (uint32_t dim : network_.dims) {
      if (apart == stride)
        return from / (stride * dim) != to / (stride * dim);
      if (dim > 2 && apart == stride * (dim - 1) && from / (stride * dim) == to / (stride * dim))
        return true;
      stride *= dim;
    }
    return false;
  }

  std::vector<Piece> piecesOf(const sim::LinkLoad &link) const {
    const Node &a = nodes_[link.from], &b = nodes_[link.to];
    if (!isTorus() || !isAround(link.from, link.to))
      return {{a.x, a.y, b.x, b.y}};
    auto sign = [](double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0; };
    double dx = sign(a.x - b.x) * kAcross * 0.42, dy = sign(a.y - b.y) * kDown * 0.42;
    return {{a.x, a.y, a.x + dx, a.y + dy, true, false},
            {b.x - dx, b.y - dy, b.x, b.y, false, true}};
  }

  /// Draws one direction of a link, beside the other one.
  void drawLink(const sim::LinkLoad &link) {
    constexpr double kApart = 4.5, kLeast = 0.15;
    double share = static_cast<double>(link.bytes) / static_cast<double>(most_);
    uint64_t busy = run_.completion ? 100 * link.busyNs / run_.completion : 0;
    svg_.begin(nameOf(link.from) + " to " + nameOf(link.to) + ": " + std::to_string(link.bytes) +
               " B, " + std::to_string(link.messages) + " messages, busy for " +
               std::to_string(link.busyNs) + " ns, " + std::to_string(busy) + " % of the run");
    for (const Piece &p : piecesOf(link)) {
      double dx = p.x2 - p.x1, dy = p.y2 - p.y1, length = std::hypot(dx, dy);
      double ox = -dy / length * kApart, oy = dx / length * kApart;
      double ux = dx / length * (kNode + 2), uy = dy / length * (kNode + 2);
      svg_.arrow(p.x1 + ox + p.begins * ux, p.y1 + oy + p.begins * uy, p.x2 + ox - p.ends * ux,
                 p.y2 + oy - p.ends * uy, "link",
                 {1 + 3.5 * share, 0, kLeast + (1 - kLeast) * share});
      if (run_.links.size() <= kMostNamed && isTorus() && p.begins)
        nameLoad(p, ox, oy, link.bytes);
    }
    svg_.end();
  }

  /// Writes the bytes beside the arrow, away from the opposite direction.
  void nameLoad(const Piece &p, double ox, double oy, uint64_t bytes) {
    constexpr double kBeside = 5, kBelow = 13, kAbove = -8;
    double share = p.ends ? 0.5 : 0.8; // of a stub, away from the node
    double x = p.x1 + share * (p.x2 - p.x1), y = p.y1 + share * (p.y2 - p.y1);
    bool isFlat = std::abs(ox) < std::abs(oy);
    if (isFlat)
      svg_.text(x, y + oy + (oy > 0 ? kBelow : kAbove), sizeWords(bytes), "middle", "muted");
    else
      svg_.text(x + ox + (ox > 0 ? kBeside : -kBeside), y + 4, sizeWords(bytes),
                ox > 0 ? "start" : "end", "muted");
  }

  std::string nameOf(uint32_t node) const {
    if (!nodes_[node].isSwitch)
      return "node " + std::to_string(node);
    uint64_t level = 0, first = 0, count = network_.numNodes();
    if (network_.kind == Kind::Dragonfly)
      return "switch " + std::to_string((node - count) / network_.dims[1]) + "." +
             nodes_[node].name;
    while (first + count <= node) {
      first += count;
      count /= network_.dims[level++];
    }
    return "switch " + std::to_string(level) + "." + std::to_string(node - first);
  }

  double drawLegend() {
    constexpr size_t kSteps = 4;
    double y = bottom_ + 62, x = kText;
    if (run_.links.empty())
      return svg_.paragraph(kText, y, "No message goes over a link.", 300, "muted");
    for (size_t i = 1; i <= kSteps; ++i) {
      double share = static_cast<double>(i) / kSteps;
      svg_.arrow(x, y, x + 34, y, "link", {1 + 3.5 * share, 0, 0.15 + 0.85 * share});
      std::string words = sizeWords(static_cast<uint64_t>(static_cast<double>(most_) * share));
      svg_.text(x + 42, y + 4, words, "start", "muted");
      x += 52 + static_cast<double>(words.size()) * 6.4 + 14;
    }
    right_ = std::max(right_, x - kLeft + kText);
    std::string words = "An arrow each way; width and shade: bytes.";
    switch (network_.kind) {
    case Kind::None:
      break;
    case Kind::Torus:
      words += " Stubs lead around the edge.";
      break;
    case Kind::FatTree:
      words += " The lowest row: nodes; above: switches.";
      break;
    case Kind::Dragonfly:
      words += " Outside: nodes; inside: switches, group by group.";
      break;
    }
    return svg_.paragraph(kText, y + 26, words, std::max(300.0, right_ - kText), "muted");
  }

  static constexpr double kAcross = 120, kDown = 104;
  static constexpr size_t kMostNamed = 128;
  const sim::NetworkOptions &network_;
  const ShownRun &run_;
  SvgCanvas &svg_;
  std::vector<Node> nodes_;
  uint64_t most_ = 1;
  double right_ = 0, bottom_ = 0;
};

} // namespace

void drawLinks(const Document &document, llvm::raw_ostream &out) {
  const ShownRun &run = document.runs.front();
  std::string title = "bytes over the links: " + document.schedules[run.schedule].label;
  SvgCanvas svg(title);
  svg.heading(kText, title);
  LinksSvg(document, run, svg).draw(out);
}

} // namespace colldsl::show
