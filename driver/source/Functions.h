/// Functions on the command line, such as `bcast`: the rules of the standard library, or of the
/// schedule library that was read, choose collectives for them.
#pragma once

#include "driver/schedule/SingleSchedule.h"

namespace colldsl::driver {

/// Replaces each function by the collective that the rules choose, and reports it on stderr. False,
/// after a message: no rule fits, or the number of ranks is unknown.
bool chooseForFunctions(Source &source, std::vector<Source::Target> &targets,
                        const SingleRequest &options);

/// Replaces each function by all collectives that rules may choose for it.
void expandFunctions(Source &source, std::vector<Source::Target> &targets);

} // namespace colldsl::driver
