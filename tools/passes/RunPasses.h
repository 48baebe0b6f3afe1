/// Passes between the reading of targets and their printing, proof or run.
#pragma once

#include "tools/input/Parameters.h"
#include "tools/input/Shape.h"

namespace colldsl::tools {

/// Runs the program passes. The values that they bind become part of the call, unless --set gave
/// them. No other thread may make schedules of the source meanwhile.
Status bindTuningParameters(Source &source, const Source::Target &target,
                            const ScheduleOptions &options, const Shape &shape, Call &call);

/// Runs the DAG passes; with PassSettings::verifyMade it proves the result. Thread safe.
Result<Schedule> runPasses(Schedule schedule, const ScheduleOptions &options, const Shape &shape);

} // namespace colldsl::tools
