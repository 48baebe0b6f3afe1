/// A summary of many ops: per group of ranks and interval of time, the share of it that they were
/// busy with each activity, and the number of ops that began.
#pragma once

#include "ir/Vocabulary.h"
#include "show/OpTimes.h"

#include <vector>

namespace colldsl::show {

/// The kind of work that a bar of the picture shows.
enum class Activity : uint8_t { Send, Receive, Local };
inline constexpr size_t kActivities = 3;

class Grid {
public:
  /// completion: ns.
  Grid(uint32_t ranks, uint64_t completion);

  void add(uint32_t rank, Activity activity, uint64_t begin, uint64_t end);

  /// A coarser grid. Each cell has its main activity and the level of its share.
  struct Shades {
    static constexpr uint32_t kLevels = 12;
    uint32_t rows = 0, columns = 0;
    std::vector<std::pair<uint8_t, uint8_t>> cells; ///< activity; level: 0 to kLevels
    std::pair<uint8_t, uint8_t> at(uint32_t row, uint32_t column) const {
      return cells[size_t{row} * columns + column];
    }
  };
  Shades shades(uint32_t mostRows, uint32_t mostColumns) const;

  llvm::json::Object describe() const;
  /// Adds the shares, in 255ths.
  void addTo(const std::string &prefix, Columns &columns) const;

private:
  uint64_t columnOf(uint64_t ns) const { return ns / width_; }

  uint32_t ranks_, perRow_, rows_;
  uint64_t width_; ///< ns per column
  uint32_t columns_;
  std::vector<uint64_t> busyNs_[kActivities];
  std::vector<uint32_t> begun_;
};

Grid gridOf(const OpTable &ops, const Times &times, uint64_t completion);
Grid gridOf(const sim::Workload &workload, const sim::Outcome &outcome);

} // namespace colldsl::show
