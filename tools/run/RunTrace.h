/// A measured run as a file: written by `run --trace`, read by `show --trace`.
#pragma once

#include "tools/run/RankRun.h"

#include "llvm/Support/raw_ostream.h"

namespace colldsl::tools {

/// In the format of Chrome's tracing page: a process per rank, a span per op, from its start to its
/// finish. Times are microseconds from the first op's start. `otherData` names writer and schedule.
void writeRunTrace(const std::string &name, const Schedule &schedule,
                   const std::vector<Sizes> &sizes, const std::vector<RankReport> &reports,
                   llvm::raw_ostream &out);

struct RunTrace {
  std::vector<uint64_t> begin, end; ///< ns, per op; those of rank 0 come first
};

/// Parses the text of a trace. An error if it is of another schedule: an op is missing or differs.
Result<RunTrace> readRunTrace(llvm::StringRef text, const Schedule &schedule);

} // namespace colldsl::tools
