#include "tools/show/MeasuredTrace.h"

#include "driver/Lists.h"
#include "driver/files/ReadInput.h"
#include "tools/run/RunTrace.h"

namespace colldsl::tools {

using namespace driver;

Status addMeasured(show::Document &document, const std::string &file) {
  const show::ShownSchedule &shown = document.schedules.front();
  if (!shown.ops)
    return Status::error("--trace: the schedule has " + std::to_string(shown.numOps) + " ops and " +
                         std::to_string(shown.messages) +
                         " messages, which are more than --max-events " +
                         std::to_string(document.maxEvents));
  Result<std::unique_ptr<llvm::MemoryBuffer>> input = readInput(file);
  if (!input)
    return input.status();
  Result<RunTrace> trace = readRunTrace((*input)->getBuffer(), *shown.schedule);
  if (!trace)
    return wrap("'" + shownName(file) + "'", trace.status());
  show::ShownRun run;
  run.isMeasured = true;
  run.label = "measured";
  run.times = show::measuredTimes(*shown.ops, std::move(trace->begin), std::move(trace->end));
  run.completion = run.times->completion;
  document.runs.push_back(std::move(run));
  return {};
}

} // namespace colldsl::tools
