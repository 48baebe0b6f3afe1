#include "show/SvgCanvas.h"

#include <cmath>

namespace colldsl::show {
namespace {

constexpr double kGlyphWidth = 6.4; ///< pixels of text of 11 pixels, roughly

constexpr llvm::StringLiteral kStyle = R"(<style>
  text { font: 11px sans-serif; fill: #24292f; }
  .title { font-size: 13px; font-weight: bold; }
  .muted { fill: #57606a; }
  .onDark { fill: #ffffff; }
  .axis { stroke: #8c959f; stroke-width: 1; fill: none; }
  .grid { stroke: #eaeef2; stroke-width: 1; }
  .arrow { stroke: #8c959f; stroke-width: 1; fill: none; }
  .head { fill: #8c959f; stroke: none; }
  .send { fill: #2f6fab; } .receive { fill: #7fb3dd; } .local { fill: #8a63b8; }
  .pathline { stroke: #c4660a; stroke-width: 2; fill: none; }
  .path { fill: none; stroke: #f4a948; stroke-width: 2; }
  .pathhead { fill: #c4660a; }
  .cell { fill: #0b3d70; }
  .node { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.2; }
  .onpath { fill: #f6f8fa; stroke: #c4660a; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .muted { fill: #9aa4af; } .onDark { fill: #0d1117; }
    .grid { stroke: #1f262e; }
    .send { fill: #5aa2e6; } .receive { fill: #2d628f; } .local { fill: #a987d6; }
    .pathline { stroke: #f0a04b; } .path { stroke: #b8690f; } .pathhead { fill: #f0a04b; }
    .cell { fill: #79c0ff; } .node { fill: #161b22; } .onpath { fill: #161b22; stroke: #f0a04b; }
  }
</style>
)";

std::string number(double value) {
  std::string text = llvm::formatv("{0:f1}", value).str();
  return llvm::StringRef(text).ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

} // namespace

std::string escaped(llvm::StringRef text) {
  std::string all;
  for (char c : text)
    all += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return all;
}

void SvgCanvas::rect(double x, double y, double width, double height, llvm::StringRef kind,
                     double opacity) {
  body_ << "<rect class=\"" << kind << "\" x=\"" << number(x) << "\" y=\"" << number(y)
        << "\" width=\"" << number(std::max(width, 0.3)) << "\" height=\"" << number(height)
        << "\"";
  if (opacity < 1)
    body_ << " fill-opacity=\"" << llvm::formatv("{0:f2}", opacity).str() << "\"";
  body_ << "/>\n";
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, llvm::StringRef kind) {
  body_ << "<line class=\"" << kind << "\" x1=\"" << number(x1) << "\" y1=\"" << number(y1)
        << "\" x2=\"" << number(x2) << "\" y2=\"" << number(y2) << "\"/>\n";
}

void SvgCanvas::arrow(double x1, double y1, double x2, double y2, llvm::StringRef kind) {
  constexpr double kSize = 5, kTurn = 2.7;
  line(x1, y1, x2, y2, kind);
  double angle = std::atan2(y2 - y1, x2 - x1);
  body_ << "<path class=\"" << (kind == "arrow" ? "head" : "pathhead") << "\" d=\"M" << number(x2)
        << "," << number(y2);
  for (double turn : {kTurn, -kTurn})
    body_ << " L" << number(x2 + kSize * std::cos(angle + turn)) << ","
          << number(y2 + kSize * std::sin(angle + turn));
  body_ << " Z\"/>\n";
}

void SvgCanvas::circle(double x, double y, double radius, llvm::StringRef kind) {
  body_ << "<circle class=\"" << kind << "\" cx=\"" << number(x) << "\" cy=\"" << number(y)
        << "\" r=\"" << number(radius) << "\"/>\n";
}

void SvgCanvas::path(llvm::StringRef d, llvm::StringRef kind) {
  body_ << "<path class=\"" << kind << "\" d=\"" << d << "\"/>\n";
}

void SvgCanvas::text(double x, double y, llvm::StringRef text, llvm::StringRef anchor,
                     llvm::StringRef kind, double most) {
  if (static_cast<double>(text.size()) * kGlyphWidth > most)
    return;
  body_ << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\"";
  if (anchor != "start")
    body_ << " text-anchor=\"" << anchor << "\"";
  if (!kind.empty())
    body_ << " class=\"" << kind << "\"";
  body_ << ">" << escaped(text) << "</text>\n";
}

void SvgCanvas::begin(llvm::StringRef title) {
  body_ << "<g><title>" << escaped(title) << "</title>\n";
}
void SvgCanvas::end() { body_ << "</g>\n"; }

void SvgCanvas::legend(double x, double y,
                       llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> entries) {
  constexpr double kSwatch = 14, kGap = 6, kBetween = 18;
  for (const auto &[kind, words] : entries) {
    if (!kind.empty())
      rect(x, y, kSwatch, 9, kind);
    double at = kind.empty() ? x : x + kSwatch + kGap;
    text(at, y + 9, words, "start", "muted");
    x = at + static_cast<double>(words.size()) * kGlyphWidth + kBetween;
  }
}

void SvgCanvas::finish(double width, double height, llvm::raw_ostream &out) {
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << number(width) << " "
      << number(height) << "\" width=\"" << number(width) << "\" height=\"" << number(height)
      << "\" role=\"img\">\n<title>" << escaped(title_) << "</title>\n"
      << kStyle << bodyText_ << "</svg>\n";
}

TimeUnit unitFor(uint64_t ns) {
  constexpr TimeUnit kUnits[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
  for (const TimeUnit &unit : kUnits)
    if (static_cast<double>(ns) >= 2 * unit.ns)
      return unit;
  return {"ns", 1};
}

double stepFor(double range, double count) {
  double rough = std::max(range / count, 1e-9), power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough)
      return factor * power;
  return 10 * power;
}

} // namespace colldsl::show
