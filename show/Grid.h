/// What many ops amount to: per group of ranks and interval of time, which share of it they were
/// busy, with what, and how many ops began.
#pragma once

#include "ir/Vocabulary.h"
#include "show/Columns.h"
#include "simulator/Simulate.h"

#include <vector>

namespace colldsl::show {

/// What a bar of the picture is.
enum class Activity : uint8_t { Send, Receive, Local };
inline constexpr size_t kActivities = 3;

class Grid {
public:
  /// completion: ns.
  Grid(uint32_t ranks, uint64_t completion);

  void add(uint32_t rank, Activity activity, uint64_t begin, uint64_t end);

  llvm::json::Object describe() const;
  /// Shares in 255ths.
  void addTo(const std::string &prefix, Columns &columns) const;

private:
  uint64_t columnOf(uint64_t ns) const { return ns / width_; }

  uint32_t ranks_, perRow_, rows_;
  uint64_t width_; ///< ns per column
  uint32_t columns_;
  std::vector<uint64_t> busyNs_[kActivities];
  std::vector<uint32_t> begun_;
};

Grid gridOf(const sim::Workload &workload, const sim::Outcome &outcome);

} // namespace colldsl::show
