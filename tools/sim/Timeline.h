/// Timelines of all ranks, as Chrome's tracing page and Perfetto show them.
#pragma once

#include "simulator/Simulate.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

/// More than this many ops and messages are refused: no viewer opens them.
inline constexpr uint64_t kMaxTraced = 4'000'000;

/// One process per rank; its sends, calcs and what it took in as spans, a flow from each send
/// to its message. Times are microseconds, as the format has it, with three decimals.
Status writeTrace(const sim::Workload &workload, const sim::Recording &recording,
                  llvm::raw_ostream &out);

} // namespace colldsl::tools
