/// Builds one rank's Dag from ops in program order: derives the dependencies that
/// data demands, adds those that the text states.
#pragma once

#include "ir/Dag.h"
#include "ir/Result.h"
#include "program/AccessMap.h"
#include "program/LabelTable.h"

#include <deque>
#include <span>

namespace colldsl {

/// The name of a buffer that no text names: where a `recv ... combine` lands.
inline constexpr uint32_t kHiddenName = 0xffffffffu;

class DagBuilder {
public:
  /// Appends to `dag`, which must be empty; both outlive the builder's use.
  void begin(Dag &dag, SizeRange &range);

  BufferId addBuffer(const Buffer &buffer) { return dag_->addBuffer(buffer); }

  /// Adds an op that touches no bytes so far, to be filled in by the caller.
  Op &addPlain() {
    Op &added = dag_->ops.emplace_back();
    added.depBegin = static_cast<uint32_t>(dag_->deps.size());
    return added;
  }
  /// What the newest op reads and writes, with the dependencies that this demands.
  Status touch(std::span<const Region> sources, std::span<const Region> targets);
  /// The newest op receives into a hidden temporary; adds a combine that waits for it.
  Status receiveAndCombine(Reduction reduction, Side side, std::span<const Region> targets);

  uint32_t size() const { return dag_->size(); }

  /// Every op of `waiter` that none of its own ops precedes waits for every op of
  /// `first` that none of its own ops follows. May add an op.
  void depend(const LabelRange &waiter, const LabelRange &first, DepKind kind) {
    if (waiter.last - waiter.first == 1 && first.last - first.first == 1) [[likely]]
      state(OpId{waiter.first}, {OpId{first.first}, kind});
    else
      dependAll(waiter, first, kind);
  }

  /// Puts the ops in an order in which dependencies point backwards (they nearly
  /// always do). Fails with the cycle if there is none.
  Status finish();

private:
  Status track(std::span<const Region> regions, bool writes, OpId op);
  AccessMap &mapOf(BufferId buffer) {
    if (index(buffer) < mapOfBuffer_.size() && mapOfBuffer_[index(buffer)]) [[likely]]
      return *mapOfBuffer_[index(buffer)];
    return newMap(buffer);
  }
  AccessMap &newMap(BufferId buffer);
  void addDep(OpId on, DepKind kind);
  void dependAll(const LabelRange &waiter, const LabelRange &first, DepKind kind);
  void state(OpId waiter, Dep dep);
  void mergeStatedDeps();
  Status sortByDeps();
  void reorder(std::span<const uint32_t> order);
  std::vector<OpId> entriesOf(const LabelRange &range) const;
  std::vector<OpId> exitsOf(const LabelRange &range) const;
  Diagnostic cycleError(std::span<const uint32_t> openDeps) const;

  struct StatedDep {
    OpId waiter;
    Dep dep;
  };
  static constexpr uint32_t kFewDeps = 16;

  Dag *dag_ = nullptr;
  SizeRange *range_ = nullptr;
  std::deque<AccessMap> maps_; // the first usedMaps_ of them are in use
  uint32_t usedMaps_ = 0;
  std::vector<AccessMap *> mapOfBuffer_; // null: nobody touched it
  ReaderPool readers_;
  std::vector<uint32_t> lastDepOf_; // per op: the newest op that depends on it, plus one
  std::vector<StatedDep> stated_;
};

} // namespace colldsl
