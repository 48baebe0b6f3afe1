/// State that all ranks of a job share: their checks, and the names of their buffers.
/// Internal to this folder.
#pragma once

#include "instantiate/Interpreter.h"

#include <unordered_map>

namespace colldsl {

/// Checks that all members of a group make the same calls.
class CallChecker {
public:
  /// Adds the calls of the next rank.
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

/// Checks trees: one root, spanning, acyclic, and parent and child agree.
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

  /// Names the buffers of the next rank, whose names index the program's strings until then.
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
