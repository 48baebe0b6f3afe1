/// The columns of NVIDIA's nccl-tests, which scripts read: size, count, type, operator, root, time,
/// and the bandwidths of its doc/PERFORMANCE.md.
#pragma once

#include "ir/Schedule.h"
#include "tools/run/CallTimes.h"

#include <string>
#include <vector>

namespace colldsl::tools {

struct NcclRow {
  std::string name;
  uint32_t ranks = 0;
  uint64_t size = 0;  ///< bytes: the larger one of input and output
  uint64_t count = 0; ///< elements that a caller of NCCL states
  std::string type;
  std::string reduction; ///< "none" without one
  int64_t root = -1;     ///< -1: there is none
  /// Bytes that cross the bus of each rank, as a share of `size`. 1 for collectives that nccl-tests
  /// does not have.
  double busShare = 1;
  bool inPlace = false;
  bool isChecked = false;
  Times times;
};

/// The row of a schedule that ran, without its times.
NcclRow ncclRow(const std::string &name, const Schedule &schedule, const std::vector<Sizes> &sizes);

/// Prints to the result stream. A collective runs in place or not; its other half is N/A.
void printNcclColumns(const std::vector<NcclRow> &rows);

} // namespace colldsl::tools
