/// The options of a page, or of a picture.
#pragma once

#include "show/Svg.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

struct PageOptions {
  /// Events that a browser draws fluidly; more are shown as a grid.
  static constexpr uint64_t kUsualEvents = 1'200'000;

  std::string view = "space-time";
  uint64_t maxEvents = kUsualEvents;
  show::SvgChoice svg;

  /// This object outlives the parse.
  void addTo(Options &options);
  /// Adds the options that apply to pictures alone.
  void addChoiceTo(Options &options);
  /// An error if an option that was given chooses nothing in this view.
  Status check(const Options &options, bool isSvg, llvm::StringRef shown) const;
};

} // namespace colldsl::tools
