#include "show/SvgViews.h"

#include <algorithm>

namespace colldsl::show {
namespace {

constexpr double kChartLeft = 70, kChartWidth = 880, kChartTop = 40, kPanelGap = 30;
constexpr uint32_t kMostBars = 20'000; ///< more are drawn as sums per interval

class SpaceTimeSvg {
public:
  SpaceTimeSvg(const Document &document, SvgCanvas &svg) : document_(document), svg_(svg) {
    for (const ShownRun &run : document.runs)
      latest_ = std::max(latest_, run.completion);
  }

  /// Returns the height.
  double draw() {
    double y = kChartTop;
    for (const ShownRun &run : document_.runs)
      y = drawRun(run, y) + kPanelGap;
    y -= kPanelGap;
    drawTimes(y);
    drawLegend(y + 42);
    return y + 62;
  }

private:
  double x(uint64_t ns) const {
    return kChartLeft + static_cast<double>(ns) / static_cast<double>(latest_) * kChartWidth;
  }

  double drawRun(const ShownRun &run, double top) {
    const ShownSchedule &of = document_.schedules[run.schedule];
    constexpr double kMostHeight = 600, kMostRow = 34;
    countLanes(of);
    row_ = std::min(kMostRow * *std::max_element(lanes_.begin(), lanes_.end()),
                    kMostHeight / of.ranks);
    top_ = top;
    if (document_.runs.size() > 1)
      svg_.text(kChartLeft, top - 6, fittedHeading(of.label + ", " + run.label, kChartWidth));
    double height = row_ * of.ranks;
    svg_.rect(kChartLeft, top, kChartWidth, height, "axis");
    drawRanks(of.ranks);
    if (run.times && of.ops->size() <= kMostBars)
      drawBars(run, *of.ops);
    else
      drawGrid(run, of);
    drawPath(run, of);
    return top + height;
  }

  /// A rank has a lane per processor.
  void countLanes(const ShownSchedule &of) {
    lanes_.assign(of.ranks, 1);
    for (uint32_t r = 0; of.ops && r < of.ranks; ++r)
      for (const Op &op : of.ops->schedule->ranks[r].ops)
        lanes_[r] = std::max(lanes_[r], op.cpu + 1U);
  }

  struct Lane {
    double top, height;
  };
  Lane laneOf(uint32_t rank, const Op &op) const {
    double height = row_ / lanes_[rank];
    return {top_ + rank * row_ + op.cpu * height, height};
  }
  double middleOf(const OpTable &ops, uint32_t op) const {
    Lane lane = laneOf(ops.rankOf(op), ops.at(op));
    return lane.top + lane.height / 2;
  }

  void drawRanks(uint32_t ranks) {
    constexpr double kApart = 14;
    auto every = static_cast<uint32_t>(std::max(1.0, stepFor(kApart / row_, 1)));
    for (uint32_t r = 0; r < ranks; r += every)
      svg_.text(kChartLeft - 6, middle(r) + 4, "rank " + std::to_string(r), "end");
  }

  double middle(uint32_t rank) const { return top_ + (rank + 0.5) * row_; }

  void drawBars(const ShownRun &run, const OpTable &ops) {
    const Times &times = *run.times;
    std::vector<bool> isOnPath(ops.size());
    for (uint32_t op : times.path)
      isOnPath[op] = true;
    constexpr double kPadding = 0.14, kInterface = 0.55; // shares of a row; of the color's opacity
    for (uint32_t r = 0; r < ops.numRanks(); ++r)
      for (uint32_t op = ops.first[r]; op < ops.first[r + 1]; ++op) {
        const Op &what = ops.schedule->ranks[r].ops[op - ops.first[r]];
        double left = x(times.begin[op]), width = x(times.end[op]) - left;
        Lane lane = laneOf(r, what);
        double y = lane.top + kPadding * lane.height, height = lane.height * (1 - 2 * kPadding);
        if (times.interface[op] > 0 && lane.height > 8)
          svg_.rect(left, y + height, x(times.begin[op] + times.interface[op]) - left,
                    std::min(3.0, kPadding * lane.height), classOf(what.kind), kInterface);
        svg_.begin("rank " + std::to_string(r) + ", op " + std::to_string(op - ops.first[r]) +
                   ": " + opName(what) + ", " + std::to_string(ops.bytes[op]) + " B, " +
                   std::to_string(times.begin[op]) + " to " + std::to_string(times.end[op]) +
                   " ns");
        svg_.rect(left, y, width, height, classOf(what.kind));
        if (isOnPath[op])
          svg_.rect(left + 1, y + 1, std::max(1.0, width - 2), height - 2, "path");
        if (height > 12)
          svg_.text(left + 5, y + height / 2 + 4, opName(what), "start",
                    receivesMessage(what.kind) ? "" : "onDark", width - 8);
        svg_.end();
      }
    drawArrows(run, ops);
  }

  void drawArrows(const ShownRun &run, const OpTable &ops) {
    const Times &times = *run.times;
    constexpr double kEdge = 0.36;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      uint32_t other = ops.partner[op];
      if (other == kNoIndex || !sendsMessage(ops.at(op).kind))
        continue;
      double from = middleOf(ops, op), to = middleOf(ops, other);
      uint64_t arrived = run.isMeasured ? times.end[other] : times.begin[other];
      uint64_t sent = std::min(run.isMeasured ? times.begin[op] : times.end[op], arrived);
      double side = to > from ? kEdge : -kEdge;
      svg_.arrow(x(sent), from + side * laneOf(ops.rankOf(op), ops.at(op)).height, x(arrived),
                 to - side * laneOf(ops.rankOf(other), ops.at(other)).height, "arrow");
    }
  }

  /// Draws a grid whose shades are the busy shares of the ranks of a row.
  void drawGrid(const ShownRun &run, const ShownSchedule &of) {
    constexpr uint32_t kRows = 100, kColumns = 150;
    Grid grid = run.grid ? *run.grid : gridOf(*of.ops, *run.times, run.completion);
    Grid::Shades shades = grid.shades(kRows, kColumns);
    double height = row_ * of.ranks / shades.rows;
    double width = (x(run.completion) - kChartLeft) / shades.columns;
    constexpr const char *kKinds[kActivities] = {"send", "receive", "local"};
    for (uint32_t r = 0; r < shades.rows; ++r)
      for (uint32_t c = 0; c < shades.columns;) {
        uint32_t end = c + 1;
        while (end < shades.columns && shades.at(r, end) == shades.at(r, c))
          ++end;
        auto [activity, level] = shades.at(r, c);
        if (level > 0)
          svg_.rect(kChartLeft + c * width, top_ + r * height, (end - c) * width, height + 0.1,
                    kKinds[activity], static_cast<double>(level) / Grid::Shades::kLevels);
        c = end;
      }
  }

  void drawPath(const ShownRun &run, const ShownSchedule &of) {
    std::string d;
    constexpr double kBelow = 0.43;
    auto add = [&](double at, double height, uint64_t begin, uint64_t end) {
      double y = height > 14 ? at + kBelow * height : at;
      d += llvm::formatv("{0}{1:f1},{2:f1} L{3:f1},{2:f1} ", d.empty() ? "M" : "L", x(begin), y,
                         x(end))
               .str();
    };
    if (run.times)
      for (uint32_t op : run.times->path)
        add(middleOf(*of.ops, op), laneOf(of.ops->rankOf(op), of.ops->at(op)).height,
            run.times->begin[op], run.times->end[op]);
    else
      for (const sim::PathStep &step : run.path)
        if (step.isMessage || !receivesMessage(step.what.kind))
          add(middle(step.rank), row_, step.begin, step.end);
    svg_.path(d, "pathline");
  }

  void drawTimes(double bottom) {
    TimeUnit unit = unitFor(latest_);
    double range = static_cast<double>(latest_) / unit.ns, step = stepFor(range, 9);
    for (double at = 0; at <= range; at += step) {
      double left = kChartLeft + at / range * kChartWidth;
      svg_.line(left, bottom, left, bottom + 5, "axis");
      svg_.text(left, bottom + 18, llvm::formatv("{0:f}", at).str().substr(0, decimals(at, step)),
                "middle");
    }
    svg_.text(kChartLeft + kChartWidth, bottom + 33, std::string("time, ") + unit.name, "end",
              "muted");
  }

  /// The number of characters to show of a number with two decimals.
  static size_t decimals(double at, double step) {
    size_t whole = std::to_string(static_cast<uint64_t>(at)).size();
    return step >= 1 ? whole : step >= 0.1 ? whole + 2 : whole + 3;
  }

  void drawLegend(double y) {
    svg_.legend(kChartLeft, y,
                {{"send", "send"},
                 {"receive", "receive"},
                 {"local", "copy, combine, calc"},
                 {"pathhead", "critical path"},
                 {"", "arrows: messages; shades: share of the time"}});
  }

  const Document &document_;
  SvgCanvas &svg_;
  uint64_t latest_ = 1;
  double row_ = 1, top_ = 0;
  std::vector<uint32_t> lanes_; ///< per rank
};

} // namespace

void drawSpaceTime(const Document &document, llvm::raw_ostream &out) {
  SvgCanvas svg(document.title);
  svg.heading(kChartLeft, document.title);
  double height = SpaceTimeSvg(document, svg).draw();
  svg.finish(kChartLeft + kChartWidth + 20, height, out);
}

} // namespace colldsl::show
