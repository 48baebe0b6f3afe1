/// The state of one run of a rank's dependency DAG: the ops that may start now.
///
/// Example: ops a, b, c; b requires a; c irequires b.
///   pop() -> a;  start(a), finish(a);  pop() -> b;  start(b);  pop() -> c, although
///   b has not finished.
///
/// Pure state: no clock, no I/O, no recursion, no allocation after construction. An op's counter of
/// open dependencies is reset when it reaches zero, so the next run finds all counters ready and
/// restart() costs the same for any size. Not thread safe.
#pragma once

#include "ir/Image.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <span>
#include <vector>

namespace colldsl {

class Wavefront {
public:
  Wavefront() = default;
  // Copies would refer to the successors of the original.
  Wavefront(Wavefront &&) = default;
  Wavefront &operator=(Wavefront &&) = default;

  /// The DAG of a loaded image: acyclic, all indices in bounds. `successors` stays
  /// where it is as long as the wavefront is used.
  Wavefront(std::span<const ImageOp> ops, std::span<const uint32_t> successors);

  /// Ops for which isFirst(op) is true are popped first, in every run, among those that may start
  /// at the same moment because they have no dependencies or wait for the same op.
  template <typename IsFirst> void putFirst(IsFirst isFirst) {
    auto goesFirst = [&](uint32_t op) { return isFirst(OpId{op}); };
    std::stable_partition(ready_.begin(), ready_.begin() + roots_, goesFirst);
    for (Vertex &v : vertices_) {
      const uint32_t *middle = v.successors + v.requireCount, *end = middle + v.irequireCount;
      if (std::is_partitioned(v.successors, middle, goesFirst) &&
          std::is_partitioned(middle, end, goesFirst))
        continue;
      uint32_t *own = ownSuccessorsOf(v);
      std::stable_partition(own, own + v.requireCount, goesFirst);
      std::stable_partition(own + v.requireCount, own + v.requireCount + v.irequireCount,
                            goesFirst);
    }
  }

  /// Begins a run. The run before is done().
  void restart() {
    assert(done() && "the run before is not over");
    head_ = 0;
    tail_ = roots_;
    finished_ = 0;
    ahead_ = 0;
  }

  /// Begins a run in which these ops have finished already, in an order that their dependencies
  /// allow; they are among the first 64 of the DAG.
  void restartAfter(std::span<const uint32_t> finishedOps) {
    restart();
    for (uint32_t op : finishedOps) {
      ahead_ |= uint64_t{1} << op;
      start(OpId{op});
      finish(OpId{op});
    }
  }

  /// The next op that may start, first in, first out; kNoOp: none now.
  OpId pop() {
    while (head_ != tail_) {
      uint32_t op = ready_[head_++];
      if (ahead_ == 0 || op >= 64 || !(ahead_ >> op & 1))
        return OpId{op};
    }
    return kNoOp;
  }

  bool anyReady() const { return head_ != tail_; }

  /// Called once per op and run, in this order, start() after pop() returned the op.
  void start(OpId id) {
    const Vertex &v = vertices_[index(id)];
    release(v.successors + v.requireCount, v.irequireCount);
  }
  void finish(OpId id) {
    const Vertex &v = vertices_[index(id)];
    release(v.successors, v.requireCount);
    ++finished_;
  }

  /// Both start() and finish(), of an op without an event in between.
  void startAndFinish(OpId id) {
    const Vertex &v = vertices_[index(id)];
    release(v.successors, v.requireCount + v.irequireCount);
    ++finished_;
  }

  /// True if an op that may not start yet waits for only one other.
  bool waitsForOne(OpId id) const { return vertices_[index(id)].open == 1; }

  bool done() const { return finished_ == vertices_.size(); }

private:
  struct Vertex {
    const uint32_t *successors; ///< first those that require, then those that irequire
    uint32_t requireCount;
    uint32_t irequireCount;
    uint32_t open; ///< dependencies that are not met yet
    uint32_t deps; ///< all dependencies
  };

  /// In a copy of all successors, which may be put in another order.
  uint32_t *ownSuccessorsOf(const Vertex &v);

  void release(const uint32_t *successors, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      Vertex &v = vertices_[successors[i]];
      if (--v.open > 0)
        continue;
      v.open = v.deps;
      ready_[tail_++] = successors[i];
    }
  }

  std::vector<Vertex> vertices_;
  std::span<const uint32_t> successors_;
  std::vector<uint32_t> ownSuccessors_; ///< empty: the order of the image is used
  /// All ops of a run in the order in which they became ready. Those without
  /// dependencies are in front in every run.
  std::vector<uint32_t> ready_;
  uint32_t roots_ = 0;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  size_t finished_ = 0;
  uint64_t ahead_ = 0; ///< ops that finished before the run began
};

} // namespace colldsl
