/// What belongs to all ranks of a job together: their checks, what they share, the names
/// of their buffers. Internal to this folder.
#pragma once

#include "instantiate/Interpreter.h"

#include <unordered_map>

namespace colldsl {

/// Between 1 rank and InstantiateLimits::maxRanks.
Status checkNumRanks(const InstantiateRequest &request);

/// What the ranks that were made so far have together.
struct RankCounts {
  uint32_t ranks = 0;
  uint64_t ops = 0, deps = 0;
};
/// Against InstantiateLimits::maxTotalOps and maxTotalDeps.
Status checkTotals(const Program &program, const InstantiateRequest &request,
                   const RankCounts &counts);

/// Name, files and flags of the schedule; no ranks, names or size class yet.
Schedule sharedOf(const Program &program, const InstantiateRequest &request);

/// All members of a group make the same calls.
class CallChecker {
public:
  /// The calls of the next rank.
  void add(uint32_t rank, const std::vector<CallRecord> &calls);
  Status check() const;

private:
  struct Entry {
    CallRecord call;
    uint32_t rank;
    uint32_t made = 0;
  };
  static bool before(const Entry &a, const Entry &b) {
    return std::tuple(a.call.loc.line, a.rank) < std::tuple(b.call.loc.line, b.rank);
  }
  std::unordered_map<uint64_t, Entry> entries_;
};

/// A tree alone: one root, spanning, acyclic, and parent and child agree.
class TreeChecker {
public:
  /// The interpreter's last run made the trees that are checked next.
  TreeChecker(Interpreter &interpreter, const Program &program)
      : interpreter_(interpreter), program_(program) {}

  Status check(const TreeRecord &record);

private:
  Status view(const TreeRecord &record);
  Status checkViews(const TreeRecord &record) const;
  template <typename Bad> Status checkRoot(const TreeValue &tree, int64_t root, Bad bad) const;

  Interpreter &interpreter_;
  const Program &program_;
  std::unordered_map<uint64_t, bool> seen_;
  std::vector<int64_t> parent_;
  std::vector<std::vector<int64_t>> children_;
};

/// The names that buffers use, in the order of their first use.
class BufferNames {
public:
  explicit BufferNames(const Program &program)
      : all_(program.strings), place_(all_.size(), kNoName) {}

  /// Of the next rank, named by strings of the program until now.
  void setIn(std::span<Buffer> buffers);
  std::vector<std::string> take() { return std::move(names_); }

private:
  static constexpr uint32_t kNoName = UINT32_MAX;

  const std::vector<std::string> &all_;
  std::vector<uint32_t> place_; ///< per string of the program
  uint32_t hidden_ = kNoName;
  std::vector<std::string> names_;
};

} // namespace colldsl
