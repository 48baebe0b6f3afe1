/// Operands of which some have mistakes: what is right of them.
#pragma once

#include "tools/input/Source.h"

namespace colldsl::tools {

struct RightOperands {
  std::unique_ptr<Source> source; ///< null: nothing is right
  bool hasMistakes = false;       ///< of operands that were reported and left out
};

/// As Source::read(); of several operands those that cannot be read, or name nothing, are reported
/// and left out. Streams are read once only, so that with one among them all must be right.
RightOperands readRight(const std::vector<std::string> &operands, const ScheduleOptions &options);

} // namespace colldsl::tools
