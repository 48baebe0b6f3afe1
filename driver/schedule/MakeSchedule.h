/// Instantiation of a target with its parameters into the schedule of all ranks.
#pragma once

#include "driver/schedule/Parameters.h"
#include "driver/schedule/Shape.h"

#include <memory>

namespace colldsl::driver {

/// A schedule that was read from a file is not copied, but must fit (checkFit()). `contract`:
/// others carry their postconditions, to be proved or shown. Thread safe as long as no thread adds
/// arguments.
Result<std::shared_ptr<const Schedule>>
makeSchedule(const Source &source, const Source::Target &target, const ScheduleRequest &request,
             const Call &call, const Shape &shape, bool contract = true);

/// The request that instantiates the collective of a target.
InstantiateRequest instantiationOf(const Source::Target &target, const ScheduleRequest &request,
                                   const Call &call, const Shape &shape);

/// An error if a schedule from a file does not fit: it has other ranks, excludes n, or the shape
/// asks for a form in place.
Status checkFit(const Schedule &schedule, const Shape &shape);

/// True if instantiation failed because the collective's own `where` does not hold.
bool breaksRequirement(const Program &program, DeclId collective, const Diagnostic &error);

/// True if the target is a collective that has forms in place.
bool hasAliases(const Source &source, const Source::Target &target);

} // namespace colldsl::driver
