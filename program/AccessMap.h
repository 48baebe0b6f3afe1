/// Who touched which bytes of one buffer last: derives the dependencies that data
/// demands. Op B waits for an earlier op A exactly when they touch common bytes and
/// one of them writes; an edge that follows from others is not repeated.
///
/// Keeps cuts in order of position; the state after a cut (last writer, readers
/// since) holds up to the next one. Cuts are compared at the size at hand, and the
/// size range keeps the sizes for which they stay in that order.
#pragma once

#include "ir/Ids.h"
#include "program/SizeRange.h"

#include <vector>

namespace colldsl {

/// Reader lists of all maps of one DAG: persistent singly linked lists, so that
/// splitting an interval shares them.
struct ReaderPool {
  struct Node {
    OpId op;
    uint32_t next;
  };
  static constexpr uint32_t kEmpty = 0xffffffffu;
  std::vector<Node> nodes;

  uint32_t push(OpId op, uint32_t list) {
    nodes.push_back({op, list});
    return static_cast<uint32_t>(nodes.size() - 1);
  }
};

/// A position within a buffer: block (0 for dense buffers), then place within it.
struct BufferPlace {
  uint32_t block = 0;
  Position position;
};

class AccessMap {
public:
  AccessMap() { clear(); }
  void clear();

  /// Notes that `op` reads or writes [begin, end) and calls dependsOn(OpId) for
  /// every older op it must wait for (an op may be named more than once).
  /// False: begin and end, or one of them and an older cut, cannot be put in order for
  /// all sizes (only for blocks whose length is known at call time).
  template <typename Callback>
  bool access(BufferPlace begin, BufferPlace end, bool writes, OpId op, SizeRange &range,
              ReaderPool &pool, bool callTime, Callback dependsOn) {
    if (begin.block == end.block && begin.position.at >= end.position.at)
      return skipEmpty(begin, end, range, callTime);
    size_t first, last;
    if (!cutAt(begin, range, callTime, first) || !cutAt(end, range, callTime, last))
      return false;
    for (size_t i = first; i < last; ++i)
      visit(cuts_[i], writes, op, pool, dependsOn);
    if (writes && last - first > 1)
      cuts_.erase(cuts_.begin() + first + 1, cuts_.begin() + last);
    return true;
  }

private:
  struct Cut {
    BufferPlace place;
    OpId writer = kNoOp;
    uint32_t readers = ReaderPool::kEmpty;
  };

  template <typename Callback>
  static void visit(Cut &cut, bool writes, OpId op, ReaderPool &pool, Callback dependsOn) {
    if (!writes) {
      if (cut.writer != kNoOp)
        dependsOn(cut.writer);
      cut.readers = pool.push(op, cut.readers);
      return;
    }
    if (cut.readers == ReaderPool::kEmpty && cut.writer != kNoOp)
      dependsOn(cut.writer); // else the readers wait for it already
    for (uint32_t r = cut.readers; r != ReaderPool::kEmpty; r = pool.nodes[r].next)
      dependsOn(pool.nodes[r].op);
    cut.writer = op;
    cut.readers = ReaderPool::kEmpty;
  }

  bool cutAt(const BufferPlace &place, SizeRange &range, bool callTime, size_t &at);
  static bool skipEmpty(const BufferPlace &begin, const BufferPlace &end, SizeRange &range,
                        bool callTime);

  std::vector<Cut> cuts_; // cuts_[0] stands before every position
};

} // namespace colldsl
