/// Passes between the reading of targets and their printing, proof or run.
#pragma once

#include "driver/schedule/Parameters.h"
#include "driver/schedule/Shape.h"

namespace colldsl::driver {

/// Runs the program passes. The values that they bind become part of the call, unless --set gave
/// them. No other thread may make schedules of the source meanwhile.
Status bindTuningParameters(Source &source, const Source::Target &target,
                            const ScheduleRequest &request, const Shape &shape, Call &call);

/// Runs the DAG passes; with PassRequest::verifyMade it proves the result. `sink` gets their
/// remarks. Thread safe.
Result<Schedule> runPasses(Schedule schedule, const ScheduleRequest &request, const Shape &shape,
                           Sink &sink);

} // namespace colldsl::driver
