/// Checks for fields of a request that have no effect on what it is about.
#pragma once

#include "driver/requests/Purpose.h"
#include "driver/source/Source.h"

namespace colldsl::driver {

/// An error if a field that was given has no effect on any of the targets, of which there is one at
/// least: it names the first such field, and why. `schedule` is a part of the request.
Status checkEffects(const Fields &fields, const Source &source,
                    llvm::ArrayRef<Source::Target> targets, const ScheduleRequest &schedule,
                    Purpose purpose);

/// True if each file has a target (Source::usesAllFiles()), and each given field an effect; else
/// reports the first that has none.
bool usesAllGiven(const Fields &fields, const Source &source,
                  llvm::ArrayRef<Source::Target> targets, const ScheduleRequest &schedule,
                  Purpose purpose);

/// True if lengths of blocks are known at call time only, so that a seed chooses them.
bool hasOpenBlocks(const Source &source, llvm::ArrayRef<Source::Target> targets);

} // namespace colldsl::driver
