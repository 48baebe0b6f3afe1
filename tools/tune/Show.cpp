#include "tools/tune/Show.h"

#include "driver/Lists.h"
#include "select/Decision.h"
#include "show/SvgCanvas.h"
#include "tools/options/Table.h"
#include "tools/run/CallTimes.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>
#include <set>

namespace colldsl::tools {

using namespace driver;

namespace {

std::string nsWord(double ns) { return timeWord(static_cast<int64_t>(ns)); }

void printCosts(const MachineProfile &profile, llvm::raw_ostream &out) {
  const MachineModel &model = profile.model;
  out << "machine: " << profile.machine.words() << "\n";
  if (!profile.measured.empty())
    out << "measured: " << profile.measured << "\n";
  if (model == MachineModel()) {
    out << "no costs: jobs wrote the profile\n\n";
    return;
  }
  Table table({"distance", "L", "o", "g", "G"});
  for (unsigned d = 1; d <= kMaxDistance; ++d) {
    const LogGop &p = model.distances[d];
    if (d > 1 && p == model.distances[d - 1])
      continue;
    unsigned last = d;
    while (last < kMaxDistance && model.distances[last + 1] == p)
      ++last;
    table.addRow({std::to_string(d) + (last > d ? ".." + std::to_string(last) : ""),
                  timeWord(static_cast<int64_t>(p.L)), timeWord(static_cast<int64_t>(p.o)),
                  timeWord(static_cast<int64_t>(p.g)), llvm::formatv("{0:f3} ns/B", p.G.ns())});
  }
  table.print(out);
  out << llvm::formatv("copy {0:f3} ns/B, reduction {1:f3} ns/B, ",
                       model.copy.shortest.perByte.ns(), model.combine.shortest.perByte.ns());
  if (profile.singleCopyFrom > 0)
    out << llvm::formatv("the kernel's copy {0:f3} ns/B and from {1} on, ", profile.singleCopy.ns(),
                         bytesWord(profile.singleCopyFrom));
  out << "wake-up " << timeWord(static_cast<int64_t>(profile.wakeupNs)) << "\n\n";
}

/// The choices of the rules at the points of the decision.
std::string shippedFor(const MachineProfile &profile, const Decision &d) {
  std::string words;
  for (const TuningPoint &point : profile.points) {
    std::string shipped = point.shipped.words();
    if (isFor(d, point) && words.find(shipped) == std::string::npos)
      words += (words.empty() ? "" : ", ") + shipped;
  }
  return words;
}

std::string wordOf(const Decision &d) {
  return d.isVerified ? "" : d.isLearned ? " (learned by a job)" : " (not verified)";
}

/// Colours of winners; the winners of one row have different colours.
constexpr const char *kColors[] = {"#7fc97f", "#beaed4", "#fdc086", "#80b1d3", "#fb8072",
                                   "#b3de69", "#fccde5", "#ffed6f", "#8dd3c7", "#bc80bd"};

class WinnerDrawing {
public:
  WinnerDrawing(const MachineProfile &profile, llvm::raw_ostream &out)
      : profile_(profile), out_(out) {
    for (const TuningPoint &point : profile.points) {
      rows_[{point.function, point.nodes, point.ranks}].push_back(&point);
      sizes_.insert(point.bytes);
    }
  }

  void draw() {
    size_t width = kHead + kCell * std::max<size_t>(sizes_.size(), 1);
    size_t height = kTop + kRow * (rows_.size() + 1);
    out_ << llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                          "font-family=\"sans-serif\" font-size=\"11\">\n",
                          width, height);
    text(6, 16, "Fastest collective on " + profile_.machine.words(), width - 12);
    text(6, 30, "white: what the rules choose anyway", width - 12);
    size_t column = 0;
    for (uint64_t bytes : sizes_)
      text(kHead + kCell * column++ + 4, kTop - 6, bytesWord(bytes), kCell - 8);
    size_t row = 0;
    for (const auto &[key, points] : rows_)
      drawRow(kTop + kRow * row++, points);
    out_ << "</svg>\n";
  }

private:
  static constexpr size_t kHead = 210, kCell = 150, kRow = 34, kTop = 50;

  /// Writes words, cut to `most` pixels.
  void text(size_t x, size_t y, const std::string &words, size_t most) {
    out_ << llvm::formatv("<text x=\"{0}\" y=\"{1}\">{2}</text>\n", x, y,
                          show::escaped(show::fitted(words, static_cast<double>(most))));
  }

  void drawRow(size_t y, const std::vector<const TuningPoint *> &points) {
    const TuningPoint &first = *points.front();
    text(6, y + 20,
         first.function + ", " + counted(first.ranks, "rank") +
             (first.nodes > 1 ? ", " + counted(first.nodes, "node") : ""),
         kHead - 10);
    std::map<std::string, const char *> colors;
    for (const TuningPoint *point : points) {
      auto column = static_cast<size_t>(std::distance(sizes_.begin(), sizes_.find(point->bytes)));
      bool wins = hasWinner(*point);
      std::string name = wins ? point->entries.front().what.words() : point->shipped.words();
      if (wins)
        colors.try_emplace(name, kColors[colors.size() % std::size(kColors)]);
      size_t x = kHead + kCell * column;
      out_ << llvm::formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                            "fill=\"{4}\" stroke=\"#999\"><title>{5}</title></rect>\n",
                            x, y, kCell - 2, kRow - 2, wins ? colors[name] : "#ffffff",
                            show::escaped(name + " instead of " + point->shipped.words()));
      llvm::StringRef shown(name);
      if (shown.starts_with(point->function + "_"))
        shown = shown.drop_front(point->function.size() + 1);
      text(x + 4, y + 13, shown.str(), kCell - 8);
      double ns = wins ? point->shippedNs / point->margin : point->shippedNs;
      text(x + 4, y + 27, nsWord(ns) + (wins ? ", " + factorWord(point->margin) + " x" : ""),
           kCell - 8);
    }
  }

  const MachineProfile &profile_;
  llvm::raw_ostream &out_;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, std::vector<const TuningPoint *>> rows_;
  std::set<uint64_t> sizes_;
};

} // namespace

std::string bytesRange(uint64_t min, uint64_t max) {
  if (min == 0 && max == UINT64_MAX)
    return "all";
  return (min == 0 ? "" : bytesWord(min)) + ".." + (max == UINT64_MAX ? "" : bytesWord(max));
}

void printProfile(const MachineProfile &profile, llvm::raw_ostream &out) {
  printCosts(profile, out);
  Table table(
      {"function", "ranks", "nodes", "bytes", "collective", "instead of", "faster", "noise"});
  for (const Decision &d : profile.decisions)
    table.addRow({d.function, std::to_string(d.ranks), std::to_string(d.nodes),
                  bytesRange(d.minBytes, d.maxBytes), d.use.words(), shippedFor(profile, d),
                  factorWord(d.margin) + wordOf(d),
                  llvm::formatv("{0:f0} %", 100 * d.noise).str()});
  if (!profile.decisions.empty())
    table.print(out);
  out << (profile.decisions.empty() ? "" : "\n") << counted(profile.points.size(), "point")
      << " measured; at " << decidedPoints(profile).size()
      << " a decision serves in place of what the rules choose\n";
}

void drawProfile(const MachineProfile &profile, llvm::raw_ostream &out) {
  WinnerDrawing(profile, out).draw();
}

} // namespace colldsl::tools
