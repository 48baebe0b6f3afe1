#include "show/SvgCanvas.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace colldsl::show {
namespace {

constexpr double kGlyphWidth = 6.4;   ///< pixels of text of 11 pixels, roughly
constexpr double kHeadingWidth = 8.6; ///< of a title's, which is bold

constexpr llvm::StringLiteral kStyle = R"(<style>
  text { font: 11px sans-serif; fill: #24292f; }
  .title { font-size: 13px; font-weight: bold; }
  .muted { fill: #57606a; }
  .onDark { fill: #ffffff; } .onCell { fill: #0d1117; }
  .axis { stroke: #8c959f; stroke-width: 1; fill: none; }
  .grid { stroke: #eaeef2; stroke-width: 1; }
  .arrow { stroke: #8c959f; fill: none; } .arrowHead { fill: #8c959f; stroke: none; }
  .start { stroke: #8c959f; fill: none; stroke-dasharray: 4 3; } .startHead { fill: #8c959f; }
  .message { stroke: #2f6fab; fill: none; } .messageHead { fill: #2f6fab; stroke: none; }
  .cycle { stroke: #cf222e; fill: none; } .cycleHead { fill: #cf222e; stroke: none; }
  .missing { stroke: #cf222e; stroke-width: 2; fill: none; stroke-dasharray: 6 5; }
  .link { stroke: #0b3d70; fill: none; } .linkHead { fill: #0b3d70; stroke: none; }
  .bad { stroke: #cf222e; stroke-width: 2; fill: none; } .badText { fill: #cf222e; }
  .named { fill: #f6f8fa; stroke: #cf222e; stroke-width: 2; }
  .first { fill: #ddebf7; stroke: #2f6fab; } .second { fill: #e9e0f3; stroke: #8a63b8; }
  .levelA { stroke: #2f6fab; fill: none; stroke-width: 4; }
  .levelB { stroke: #8a63b8; fill: none; stroke-width: 4; }
  .empty { fill: #f6f8fa; } .new { fill: none; stroke: #24292f; stroke-width: 1.2; }
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
    .message { stroke: #5aa2e6; } .messageHead { fill: #5aa2e6; }
    .cycle, .missing, .bad { stroke: #ff7b72; } .cycleHead, .badText { fill: #ff7b72; }
    .link { stroke: #79c0ff; } .linkHead { fill: #79c0ff; }
    .named { fill: #161b22; stroke: #ff7b72; }
    .first { fill: #17314c; stroke: #5aa2e6; } .second { fill: #33254a; stroke: #a987d6; }
    .levelA { stroke: #5aa2e6; } .levelB { stroke: #a987d6; }
    .empty { fill: #161b22; } .new { stroke: #e6edf3; }
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

void SvgCanvas::arrow(double x1, double y1, double x2, double y2, llvm::StringRef kind,
                      const Stroke &stroke) {
  constexpr double kTurn = 2.7, kHead = 4;
  double length = std::max(1e-9, std::hypot(x2 - x1, y2 - y1));
  // A quadratic curve passes half as far from the middle as its control point lies.
  double mx = (x1 + x2) / 2 - (y2 - y1) / length * 2 * stroke.bend;
  double my = (y1 + y2) / 2 + (x2 - x1) / length * 2 * stroke.bend;
  std::string style;
  if (stroke.width != 1)
    style += " stroke-width=\"" + number(stroke.width) + "\"";
  if (stroke.opacity < 1)
    style += " opacity=\"" + llvm::formatv("{0:f2}", stroke.opacity).str() + "\"";
  if (!style.empty())
    body_ << "<g" << style << ">";
  if (stroke.bend == 0)
    line(x1, y1, x2, y2, kind);
  else
    path("M" + number(x1) + "," + number(y1) + " Q" + number(mx) + "," + number(my) + " " +
             number(x2) + "," + number(y2),
         kind);
  double size = kHead + stroke.width, angle = std::atan2(y2 - my, x2 - mx);
  body_ << "<path class=\"" << kind << "Head\" d=\"M" << number(x2) << "," << number(y2);
  for (double turn : {kTurn, -kTurn})
    body_ << " L" << number(x2 + size * std::cos(angle + turn)) << ","
          << number(y2 + size * std::sin(angle + turn));
  body_ << " Z\"/>\n";
  if (!style.empty())
    body_ << "</g>\n";
}

void SvgCanvas::cell(double x, double y, double width, double height, llvm::StringRef color) {
  body_ << "<rect fill=\"" << color << "\" x=\"" << number(x) << "\" y=\"" << number(y)
        << "\" width=\"" << number(std::max(width, 0.3)) << "\" height=\"" << number(height)
        << "\"/>\n";
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

double SvgCanvas::paragraph(double x, double y, llvm::StringRef text, double most,
                            llvm::StringRef kind) {
  constexpr double kLine = 15;
  std::string line;
  auto flush = [&] {
    this->text(x, y, line, "start", kind);
    y += kLine;
    line.clear();
  };
  while (!text.empty()) {
    llvm::StringRef word = text.take_until([](char c) { return c == ' '; });
    text = text.drop_front(word.size()).ltrim(' ');
    bool fits = static_cast<double>(line.size() + 1 + word.size()) * kGlyphWidth <= most;
    if (!fits && !line.empty())
      flush();
    line += (line.empty() ? "" : " ") + word.str();
  }
  if (!line.empty())
    flush();
  return y;
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
  constexpr double kMostForHeading = 640, kMargin = 8;
  double wanted = headingX_ + static_cast<double>(heading_.size()) * kHeadingWidth + kMargin;
  width = std::max(width, std::min(wanted, kMostForHeading));
  std::string picture = std::exchange(body_.str(), {});
  if (!heading_.empty())
    text(headingX_, 20, fittedHeading(heading_, width - headingX_ - kMargin), "start", "title");
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << number(width) << " "
      << number(height) << "\" width=\"" << number(width) << "\" height=\"" << number(height)
      << "\" role=\"img\">\n<title>" << escaped(title_) << "</title>\n"
      << kStyle << body_.str() << picture << "</svg>\n";
}

namespace {

/// Cuts the text to `most` bytes, of which an ellipsis counts as one. No UTF-8 character is split.
std::string cut(llvm::StringRef text, double most) {
  auto isWithin = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  if (static_cast<double>(text.size()) <= most)
    return text.str();
  auto length = static_cast<size_t>(std::max(0.0, most - 1));
  while (length > 0 && isWithin(text[length]))
    --length;
  return length > 0 ? text.take_front(length).rtrim().str() + "\u2026" : "";
}

/// The offset of ", 3 ranks" in the text; its size if there is none.
size_t ranksIn(llvm::StringRef text) {
  for (size_t at = text.rfind(", "); at != llvm::StringRef::npos;
       at = text.take_front(at).rfind(", ")) {
    llvm::StringRef words = text.substr(at + 2);
    llvm::StringRef digits = words.take_while(llvm::isDigit);
    if (!digits.empty() && words.substr(digits.size()).starts_with(" rank"))
      return at;
  }
  return text.size();
}

} // namespace

std::string fitted(llvm::StringRef text, double most) { return cut(text, most / kGlyphWidth); }

std::string fittedHeading(llvm::StringRef text, double most) {
  double signs = most / kHeadingWidth;
  if (static_cast<double>(text.size()) <= signs)
    return text.str();
  llvm::StringRef tail = text.substr(ranksIn(text));
  return cut(text.drop_back(tail.size()), signs - static_cast<double>(tail.size())) + tail.str();
}

std::string rankColor(uint32_t rank, uint32_t ranks, double place) {
  constexpr double kSaturation = 0.55, kLeast = 0.45, kRange = 0.25;
  double hue = 6.0 * rank / std::max(ranks, 2u), lightness = kLeast + kRange * place;
  double chroma = (1 - std::abs(2 * lightness - 1)) * kSaturation, least = lightness - chroma / 2;
  auto channel = [&](double shift) { // a trapezium over the circle of hues
    double at = std::fmod(hue + shift, 6);
    double share = std::clamp(at < 3 ? 2 - at : at - 4, 0.0, 1.0);
    return static_cast<unsigned>(std::lround(255 * (least + chroma * share)));
  };
  return llvm::formatv("#{0:x-2}{1:x-2}{2:x-2}", channel(0), channel(4), channel(2)).str();
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
