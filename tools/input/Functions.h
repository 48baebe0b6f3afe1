/// Functions on the command line, such as `bcast`: the rules of the standard library, or of the
/// schedule library that was read, choose collectives for them.
#pragma once

#include "tools/input/SingleSchedule.h"

namespace colldsl::tools {

/// Puts the collective that the rules choose in the place of each function, and says so on stderr.
/// False: no rule fits, or the number of ranks is not known, which was reported.
bool chooseForFunctions(Source &source, std::vector<Source::Target> &targets,
                        const SingleOptions &options);

/// Puts all collectives that rules may choose in the place of each function.
void expandFunctions(Source &source, std::vector<Source::Target> &targets);

} // namespace colldsl::tools
