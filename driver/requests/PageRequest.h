/// The content of a page, or of a picture.
#pragma once

#include "driver/RequestFields.h"
#include "show/Svg.h"

namespace colldsl::driver {

struct PageRequest {
  /// Events that a browser draws fluidly; more are shown as a grid.
  static constexpr uint64_t kUsualEvents = 1'200'000;

  std::string view = "space-time";
  uint64_t maxEvents = kUsualEvents;
  show::SvgChoice svg;

  void addTo(Fields &fields);
  /// Adds the fields that apply to pictures alone.
  void addChoiceTo(Fields &fields);
  /// An error if a field that was given chooses nothing in this view.
  static Status check(const Fields &fields, bool isSvg, llvm::StringRef shown);
};

} // namespace colldsl::driver
