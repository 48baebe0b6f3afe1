/// Elements of an SVG file, with the classes of the style that all pictures share. Internal to this
/// folder.
#pragma once

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace colldsl::show {

class SvgCanvas {
public:
  /// finish() writes the file, when the size is known.
  explicit SvgCanvas(std::string title) : title_(std::move(title)), body_(bodyText_) {}

  void rect(double x, double y, double width, double height, llvm::StringRef kind,
            double opacity = 1);
  void line(double x1, double y1, double x2, double y2, llvm::StringRef kind);
  /// The shape of an arrow.
  struct Stroke {
    double width = 1;
    double bend = 0; ///< distance of its middle to the right of a straight line
    double opacity = 1;
  };
  void arrow(double x1, double y1, double x2, double y2, llvm::StringRef kind) {
    arrow(x1, y1, x2, y2, kind, Stroke());
  }
  void arrow(double x1, double y1, double x2, double y2, llvm::StringRef kind,
             const Stroke &stroke);
  /// In a colour of its own: "#2f6fab".
  void cell(double x, double y, double width, double height, llvm::StringRef color);
  void circle(double x, double y, double radius, llvm::StringRef kind);
  /// `d` is the attribute of a path element.
  void path(llvm::StringRef d, llvm::StringRef kind);
  /// anchor: "start", "middle", "end". Text wider than `most`, as far as that can be told without a
  /// font, is left out.
  void text(double x, double y, llvm::StringRef text, llvm::StringRef anchor = "start",
            llvm::StringRef kind = "", double most = 1e9);
  /// Sets the title above the picture. finish() draws it, when it knows the width.
  void heading(double x, std::string text) {
    headingX_ = x;
    heading_ = std::move(text);
  }
  /// Writes lines of about `most` pixels; returns the y of the next line.
  double paragraph(double x, double y, llvm::StringRef text, double most,
                   llvm::StringRef kind = "");
  /// Begins a group, for which hovering shows `title`.
  void begin(llvm::StringRef title);
  void end();
  /// Draws swatches and words beside each other.
  void legend(double x, double y, llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> entries);

  void finish(double width, double height, llvm::raw_ostream &out);

private:
  std::string title_, heading_;
  double headingX_ = 0;
  std::string bodyText_;
  llvm::raw_string_ostream body_;
};

/// A number of nanoseconds and its unit: "us", 1000.
struct TimeUnit {
  const char *name;
  double ns;
};
TimeUnit unitFor(uint64_t ns);
/// A step of 1, 2 or 5 times a power of ten, about `count` of which fit into `range`.
double stepFor(double range, double count);

std::string escaped(llvm::StringRef text);
/// The text, cut with an ellipsis if it is wider than `most` pixels.
std::string fitted(llvm::StringRef text, double most);
/// Variant of fitted() that cuts the text in front of the ranks: "a_long_na..., 3 ranks, 64 KiB".
std::string fittedHeading(llvm::StringRef text, double most);
/// The colour of one of `ranks` ranks: hues around the circle. A greater `place`, from 0 to 1, is
/// lighter.
std::string rankColor(uint32_t rank, uint32_t ranks, double place);

} // namespace colldsl::show
