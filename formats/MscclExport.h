/// From a schedule to an algorithm of MSCCL.
#pragma once

#include "formats/Msccl.h"

namespace colldsl::msccl {

/// The schedule as an algorithm: the same data flow in chunks, for any size. Its postcondition
/// names the collective; one that MSCCL has no word for is `custom`.
///
/// Steps are ordered such that no threadblock waits for ever in channels that hold two
/// chunks, the least that MSCCL's have. An error names the op that MSCCL does not have, with
/// its rank and place, or the limit that is exceeded: signals, calcs, messages to
/// oneself, `irequires` but of a send (whose start is no more than the end of what it
/// waits for), operators other than sum (callers choose them), blocks whose length is known at call
/// time only, parameters other than one input and one output of one type, more threadblocks, steps
/// or channels than there are.
Result<Algorithm> fromSchedule(const Schedule &schedule);

} // namespace colldsl::msccl
