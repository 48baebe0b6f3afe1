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

Result<std::shared_ptr<const Schedule>> improved(Schedule schedule, const ScheduleRequest &request,
                                                 const Shape &shape, Sink &sink) {
  Result<Schedule> made = runPasses(std::move(schedule), request, shape, sink);
  if (!made)
    return made.status();
  return std::shared_ptr<const Schedule>(std::make_shared<Schedule>(made.take()));
}

} // namespace

InstantiateRequest instantiationOf(const Source::Target &target, const ScheduleRequest &request,
                                   const Call &call, const Shape &shape) {
  InstantiateRequest instantiation;
  instantiation.collective = target.collective;
  instantiation.ranks = shape.ranks;
  instantiation.elements = shape.elements;
  instantiation.type = request.elementType();
  instantiation.topology = shape.topology;
  instantiation.leaders = call.leaders.get();
  instantiation.arguments = call.arguments;
  instantiation.values = call.values;
  instantiation.sizes = call.sizes;
  instantiation.inPlace = shape.inPlace;
  instantiation.limits = request.instantiate;
  if (request.passes.pipeline.empty())
    instantiation.invariants = request.invariants;
  return instantiation;
}

Result<std::shared_ptr<const Schedule>>
makeSchedule(const Source &source, const Source::Target &target, const ScheduleRequest &request,
             const Call &call, const Shape &shape, bool contract) {
  if (target.schedule) {
    if (Status s = checkFit(*target.schedule, shape); !s)
      return s;
    if (!request.passes.pipeline.empty())
      return improved(*target.schedule, request, shape, source.session().sink());
    return std::shared_ptr<const Schedule>(std::shared_ptr<void>(), target.schedule);
  }
  InstantiateRequest instantiation = instantiationOf(target, request, call, shape);
  instantiation.contract = contract;
  if (Status s = checkJobSize(source.program(), instantiation, sizeof(Op)); !s)
    return s;
  Result<Schedule> schedule = instantiateAll(source.program(), instantiation);
  if (!schedule)
    return schedule.status();
  return improved(schedule.take(), request, shape, source.session().sink());
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
