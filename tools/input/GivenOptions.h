/// What the command line gives that this source cannot use: files and options without an effect.
#pragma once

#include "tools/input/Source.h"

namespace colldsl::tools {

/// Whether each file has a target (Source::usesAllFiles()), and each option that was given has an
/// effect on one of the targets, of which there are some. Else reports the first that has none.
bool usesAllGiven(const Options &options, const Source &source,
                  llvm::ArrayRef<Source::Target> targets, const ScheduleOptions &schedule);

/// Whether lengths of blocks are known at call time only, so that a seed chooses them.
bool hasOpenBlocks(const Source &source, llvm::ArrayRef<Source::Target> targets);

} // namespace colldsl::tools
