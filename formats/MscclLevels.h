/// The levels of an algorithm's steps, over all gpus. Internal to formats.
#pragma once

#include "formats/Msccl.h"

#include <vector>

namespace colldsl::msccl {

/// Per gpu, threadblock and step: the length of the longest chain of steps before it,
/// along threadblocks, dependencies and messages. Steps behind a cycle, or which wait for
/// steps that do not exist, have some level.
using StepLevels = std::vector<std::vector<std::vector<uint32_t>>>;
StepLevels stepLevels(const Algorithm &algorithm);

} // namespace colldsl::msccl
