/// Timelines of all ranks, as Chrome's tracing page and Perfetto show them.
#pragma once

#include "simulator/Simulate.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

/// The greatest number of ops and messages: viewers do not open more.
inline constexpr uint64_t kMaxTraced = 4'000'000;

/// Writes a process per rank, with spans for its sends, calcs and received messages, and a flow
/// from each send to its message. Times are microseconds with three decimals.
Status writeTrace(const sim::Workload &workload, const sim::Recording &recording,
                  llvm::raw_ostream &out);

} // namespace colldsl::tools
