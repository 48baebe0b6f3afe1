#include "driver/schedule/MakeSchedule.h"

#include "driver/Lists.h"
#include "driver/schedule/JobSize.h"
#include "driver/schedule/RunPasses.h"
#include "ir/Ranges.h"

#include <algorithm>

namespace colldsl::driver {

Status checkFit(const Schedule &schedule, const Shape &shape) {
  if (shape.ranks != schedule.numRanks())
    return Status::error("the schedule '" + schedule.name + "' is for " +
                         counted(schedule.numRanks(), "rank") + ", not for " +
                         std::to_string(shape.ranks));
  const SizeClass &sizes = schedule.sizeClass;
  if (!sizes.contains(shape.elements))
    return Status::error("the schedule '" + schedule.name + "' holds for " +
                         rangeWord(sizes.min, sizes.max) + " elements, not for " +
                         std::to_string(shape.elements));
  if (shape.inPlace)
    return Status::error("the schedule '" + schedule.name + "' is in place, or not, as it is");
  return {};
}

namespace {

Result<std::shared_ptr<const Schedule>> improved(Schedule schedule, const ScheduleRequest &options,
                                                 const Shape &shape, Sink &sink) {
  Result<Schedule> made = runPasses(std::move(schedule), options, shape, sink);
  if (!made)
    return made.status();
  return std::shared_ptr<const Schedule>(std::make_shared<Schedule>(made.take()));
}

} // namespace

InstantiateRequest requestFor(const Source::Target &target, const ScheduleRequest &options,
                              const Call &call, const Shape &shape) {
  InstantiateRequest request;
  request.collective = target.collective;
  request.ranks = shape.ranks;
  request.elements = shape.elements;
  request.type = options.type;
  request.topology = shape.topology;
  request.leaders = call.leaders.get();
  request.arguments = call.arguments;
  request.values = call.values;
  request.sizes = call.sizes;
  request.inPlace = shape.inPlace;
  request.limits = options.instantiate;
  return request;
}

Result<std::shared_ptr<const Schedule>> makeSchedule(const Source &source,
                                                     const Source::Target &target,
                                                     const ScheduleRequest &options,
                                                     const Call &call, const Shape &shape) {
  if (target.schedule) {
    if (Status s = checkFit(*target.schedule, shape); !s)
      return s;
    if (!options.passes.pipeline.empty())
      return improved(*target.schedule, options, shape, source.session().sink());
    return std::shared_ptr<const Schedule>(std::shared_ptr<void>(), target.schedule);
  }
  InstantiateRequest request = requestFor(target, options, call, shape);
  request.contract = options.contract;
  if (Status s = checkJobSize(source.program(), request, sizeof(Op)); !s)
    return s;
  Result<Schedule> schedule = instantiateAll(source.program(), request);
  if (!schedule)
    return schedule.status();
  return improved(schedule.take(), options, shape, source.session().sink());
}

/// An error of instantiation has the place of the declaration only if its own requirement fails. If
/// a call breaks a requirement, the error has the place of the call.
bool breaksRequirement(const Program &program, DeclId collective, const Diagnostic &error) {
  const Decl &decl = program.decl(collective);
  if (error.loc != decl.loc || error.notes.empty())
    return false;
  return std::any_of(decl.requirements.begin(), decl.requirements.end(), [&](ExprId requirement) {
    return program.expr(requirement).loc == error.notes.front().loc;
  });
}

bool hasAliases(const Source &source, const Source::Target &target) {
  return !target.schedule && !source.program().decl(target.collective).aliases.empty();
}

} // namespace colldsl::driver
