/// Checks for files and options on the command line that have no effect on this source.
#pragma once

#include "driver/source/Source.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

/// True if each file has a target (Source::usesAllFiles()), and each given option has an effect on
/// a target; else reports the first that has none. `targets` is not empty.
bool usesAllGiven(const Options &options, const Source &source,
                  llvm::ArrayRef<Source::Target> targets, const ScheduleRequest &schedule);

/// True if lengths of blocks are known at call time only, so that a seed chooses them.
bool hasOpenBlocks(const Source &source, llvm::ArrayRef<Source::Target> targets);

} // namespace colldsl::tools
