/// Passes between what the command line names and what is printed, proved or run.
#pragma once

#include "tools/input/Parameters.h"
#include "tools/input/Shape.h"

namespace colldsl::tools {

/// Runs the program passes: what they bind becomes part of the call, unless it was
/// given with --set. Not while others make schedules of the same source.
Status bindTuningParameters(Source &source, const Source::Target &target,
                            const ScheduleOptions &options, const Shape &shape, Call &call);

/// Runs the DAG passes; with PassSettings::verifyMade it proves what all passes made. Thread safe.
Result<Schedule> runPasses(Schedule schedule, const ScheduleOptions &options, const Shape &shape);

} // namespace colldsl::tools
