/// Calls one schedule repeatedly on one rank, and checks the data after each call.
#pragma once

#include "executor/Plan.h"
#include "ir/Image.h"
#include "ir/Schedule.h"

namespace colldsl::tools {

/// The common part of all ranks' runs. Everything that it refers to outlives the run.
struct RunTask {
  std::string name; ///< of the collective; rank 0 shows progress if stderr is a terminal
  const Schedule *schedule = nullptr;
  const Image *image = nullptr;                ///< of the schedule
  const Image *barrier = nullptr;              ///< of barrierSchedule()
  const std::vector<Sizes> *sizes = nullptr;   ///< per rank
  uint32_t warmup = 0;                         ///< calls that are not timed
  uint32_t iterations = 1;                     ///< calls that are timed
  std::chrono::nanoseconds timeout = kForever; ///< of one call
  bool isShared = false; ///< buffers are in memory that the ranks of a machine share, if available
  bool isTraced = false; ///< RankReport::trace of the last call
  TransferPolicy transferPolicy = TransferPolicy::Report;
};

/// The times of an op, in ns of the steady clock, which all ranks of a machine share.
struct OpTimes {
  uint64_t begin = 0, end = 0;
};

/// The report of one rank.
struct RankReport {
  std::vector<int64_t> ns; ///< per timed call
  TransferReport transfers;
  std::vector<OpTimes> trace; ///< per op
  std::string wrong;          ///< description of the first wrong result; empty: none

  std::vector<std::byte> pack() const;
  static RankReport unpack(std::span<const std::byte> bytes);
};

/// Bytes that runRank() allocates for data, on all ranks together.
double memoryOfRun(const Schedule &schedule, const std::vector<Sizes> &sizes);

/// Collective. Wrong data is no error: all ranks make all calls.
Result<RankReport> runRank(const RunTask &task, Endpoint &endpoint);

} // namespace colldsl::tools
