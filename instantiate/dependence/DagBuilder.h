/// Builds one rank's Dag from ops in program order: derives the dependencies that
/// data demands, adds those that the text states.
///
/// Where each of n ops waits for each of m others, a join stands between them, an op without work:
/// m + n dependencies instead of m * n. Example: 500 sends of a buffer, then 500 receives of its
/// parts. A join is made once it saves three of four dependencies, so that small groups keep
/// theirs. Until finish() joins have numbers of their own: a label names the ops of its statement
/// alone.
#pragma once

#include "instantiate/dependence/LastAccesses.h"
#include "instantiate/dependence/OpRange.h"
#include "ir/Dag.h"
#include "ir/EpochTable.h"
#include "ir/Index32.h"
#include "ir/Result.h"

#include <deque>
#include <span>

namespace colldsl {

/// The name of a buffer that no text names: where a `recv ... combine` lands.
inline constexpr uint32_t kHiddenName = 0xffffffffu;

class DagBuilder {
public:
  /// Appends to `dag`, which must be empty; both outlive the builder's use.
  void begin(Dag &dag, ValidityRange &range);

  BufferId addBuffer(const Buffer &buffer) { return dag_->addBuffer(buffer); }

  /// Adds an op that touches no bytes so far, to be filled in by the caller.
  Op &addPlain() {
    Op &added = dag_->ops.emplace_back();
    added.depBegin = index32(dag_->deps.size());
    if (lastDepOf_.size() < dag_->ops.size()) [[unlikely]]
      lastDepOf_.resize(dag_->ops.size() + dag_->ops.size() / 2);
    return added;
  }
  /// Adds what the newest op reads and writes, and the dependencies that this demands.
  Status touch(std::span<const Region> sources, std::span<const Region> targets);
  /// The newest op receives into a hidden temporary; adds a combine that waits for it.
  Status receiveAndCombine(Reduction reduction, Side side, std::span<const Region> targets);

  /// The number of ops without joins.
  uint32_t size() const { return dag_->size(); }
  uint64_t numOps() const { return uint64_t{dag_->size()} + joins_.size(); }
  uint64_t numDeps() const { return numDeps_; }

  /// More ops, joins among them, have no numbers.
  static constexpr uint32_t kMaxOps = 0x7fffffffu;

  /// Every op of `waiter` that none of its own ops precedes waits for every op of
  /// `first` that none of its own ops follows. May make a join.
  void depend(const OpRange &waiter, const OpRange &first, DepKind kind) {
    if (waiter.last - waiter.first == 1 && first.last - first.first == 1) [[likely]]
      state(OpId{waiter.first}, {OpId{first.first}, kind});
    else
      dependAll(waiter, first, kind);
  }

  /// After finish(): the ops as they were added; empty: the DAG has them in that order.
  std::vector<OpId> programOrder() const;

  /// Puts the ops in an order in which dependencies point backwards (they nearly
  /// always do). Fails with the cycle if there is none.
  Status finish();

private:
  Status track(std::span<const Region> regions, bool writes, OpId op);
  LastAccesses &mapOf(BufferId buffer) {
    if (index(buffer) < mapOfBuffer_.size() && mapOfBuffer_[index(buffer)]) [[likely]]
      return *mapOfBuffer_[index(buffer)];
    return newMap(buffer);
  }
  LastAccesses &newMap(BufferId buffer);
  bool waitFor(OpId on, uint32_t reader, OpId newest);
  bool waitForReaders(OpId on, uint32_t reader, OpId newest);
  bool isNewDep(OpId on, OpId newest);
  void addDep(OpId on, OpId newest);
  void joinWriters(size_t firstDep);
  void dependAll(const OpRange &waiter, const OpRange &first, DepKind kind);
  void state(OpId waiter, Dep dep);
  void mergeStatedDeps();
  void placeJoins();
  bool isSorted() const;
  Status sortByDeps();
  void reorder(std::span<const uint32_t> order);
  std::vector<OpId> entriesOf(const OpRange &range) const;
  std::vector<OpId> exitsOf(const OpRange &range) const;
  Diagnostic cycleError(std::span<const uint32_t> openDeps) const;

  struct StatedDep {
    OpId waiter;
    Dep dep;
  };

  struct Join {
    uint32_t before = 0;                   ///< the first op in program order that waits for it
    uint32_t depBegin = 0, depCount = 0;   ///< into joinDeps_
    uint32_t oldest = kMaxOps, newest = 0; ///< of the ops that it waits for
    uint32_t lastWaiter = 0;               ///< the mark of the newest op that waits for it
  };

  static constexpr bool isJoin(OpId op) { return index(op) > kMaxOps; }
  static constexpr uint32_t joinIndex(OpId op) { return index(op) - kMaxOps - 1; }
  Join &joinOf(OpId op) { return joins_[joinIndex(op)]; }
  const Join &joinOf(OpId op) const { return joins_[joinIndex(op)]; }
  std::span<const Dep> depsOf(const Join &join) const {
    return {joinDeps_.data() + join.depBegin, join.depCount};
  }
  Buffer incomingFor(const Slice &s) const;
  OpId beginJoin(uint32_t before);
  void addToJoin(OpId join, Dep dep);
  OpId joinReaders(uint32_t reader);
  bool dependsInto(OpId on, const OpRange &range) const;

  /// Ops that wait for the same writers.
  struct WriterGroup {
    uint32_t waiters = 0;
    OpId join = kNoOp;
  };

  static constexpr uint32_t kFewDeps = 16;

  Dag *dag_ = nullptr;
  ValidityRange *range_ = nullptr;
  std::deque<LastAccesses> maps_; // the first usedMaps_ of them are in use
  uint32_t usedMaps_ = 0;
  std::vector<LastAccesses *> mapOfBuffer_; // null: no op touched it
  ReaderPool readers_;
  std::vector<uint32_t> lastDepOf_; // per op: the mark of the newest op that depends on it
  uint32_t firstMark_ = 0;          // marks of this DAG are larger, so that none is cleared
  std::vector<StatedDep> stated_;
  std::vector<Join> joins_;
  std::vector<Dep> joinDeps_;
  EpochTable<WriterGroup> writerGroups_; // by hash of the writers
  uint64_t numDeps_ = 0;
  std::vector<uint32_t> added_; // per op, once they are reordered: its number before, joins last
};

} // namespace colldsl
