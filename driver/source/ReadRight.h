/// Reading of operands, some of which have mistakes.
#pragma once

#include "driver/source/Source.h"

namespace colldsl::driver {

struct RightOperands {
  std::unique_ptr<Source> source; ///< null: all operands have mistakes
  bool hasMistakes = false;       ///< operands were reported and left out
};

/// Variant of Source::read(): with several operands and without --name it reports and leaves out
/// those that cannot be read or name nothing. With a stream among them, which can be read once
/// only, all must be right.
RightOperands readRight(Session &session, const std::vector<std::string> &operands,
                        const ScheduleRequest &request);

} // namespace colldsl::driver
