/// From an algorithm of MSCCL to a schedule.
#pragma once

#include "formats/Msccl.h"

namespace colldsl::msccl {

struct ImportOptions {
  ElementType type = ElementType::I32; ///< the file names none
  uint64_t maxOps = uint64_t{1} << 31; ///< of all ranks
};

/// The algorithm with the contract of its collective (`custom` has none), reductions
/// being sums. n counts the elements of one chunk. Each op has its step's line in file 0,
/// which is `fileName`.
///
/// Steps of a threadblock follow each other; a send is taken to be over, for the steps
/// behind it, when it has started, as MSCCL's channels buffer it, but a step that
/// overwrites what was sent waits for its end. Messages of a pair of gpus and a channel
/// meet in the order of their steps. What meets nothing, or deadlocks, is left for the
/// verifier; what cannot be read as a schedule (chunks that do not exist, steps that wait
/// for themselves or for steps without a signal) is an error that names gpu, tb and step.
Result<Schedule> toSchedule(const Algorithm &algorithm, std::string_view fileName,
                            ImportOptions options = {});

} // namespace colldsl::msccl
