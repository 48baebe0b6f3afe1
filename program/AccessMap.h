/// Who touched which bytes of one buffer last: derives the dependencies that data
/// demands. Op B waits for an earlier op A exactly when they touch common bytes and
/// one of them writes; an edge that follows from others is not repeated.
///
/// Keeps cuts in order of position; the state after a cut (last writer, readers
/// since) holds up to the next one. Cuts are compared at the size at hand, and the
/// size range keeps the sizes for which they stay in that order.
///
/// Cuts lie in chunks, as in a B-tree of two levels, and the last place is remembered: a
/// walk through a buffer, in either direction, costs a few comparisons per step, any
/// other access log(cuts) and now and then a split.
#pragma once

#include "ir/Ids.h"
#include "ir/Index32.h"
#include "program/SizeRange.h"

#include <memory>
#include <vector>

namespace colldsl {

/// Reader lists of all maps of one DAG: persistent singly linked lists, so that
/// splitting an interval shares them. An op is in a list once, the newest first.
struct ReaderPool {
  static constexpr uint32_t kEmpty = 0xffffffffu;

  struct Node {
    OpId op;
    uint32_t next;
    uint32_t length = 1;  ///< from here on
    uint32_t waiters = 0; ///< ops that wait for each from here on
    OpId join = kNoOp;    ///< stands for all from here on; see DagBuilder
  };
  std::vector<Node> nodes;

  /// Intervals that had one list and are read at once have one list again.
  uint32_t push(OpId op, uint32_t list) {
    if (!nodes.empty() && nodes.back().op == op && nodes.back().next == list)
      return index32(nodes.size() - 1);
    if (list == kEmpty) {
      nodes.push_back({op, list});
    } else if (nodes[list].op == op) {
      return list;
    } else {
      nodes.push_back({op, list, nodes[list].length + 1});
    }
    return index32(nodes.size() - 1);
  }

  void clear() { nodes.clear(); }
};

/// A slice with its positions at the size at hand.
struct Region {
  Slice slice;
  int64_t beginAt = 0;
  int64_t endAt = 0;
};

/// A position within a buffer: block (0 for dense buffers), then place within it.
struct BufferPlace {
  uint32_t block = 0;
  Position position;
};

class AccessMap {
public:
  AccessMap() { clear(); }
  AccessMap(const AccessMap &) = delete;
  AccessMap &operator=(const AccessMap &) = delete;
  void clear();

  /// Notes that `op` reads or writes [begin, end) and calls dependsOn(OpId, reader) for every older
  /// op it must wait for (an op may be named more than once). `reader`: its node in the pool,
  /// kEmpty for a writer. False from dependsOn: the rest of that list is taken care of.
  /// False: begin and end, or one of them and an older cut, cannot be put in order for
  /// all sizes (only for blocks whose length is known at call time).
  template <typename Callback>
  bool access(const BufferPlace &begin, const BufferPlace &end, bool writes, OpId op,
              SizeRange &range, ReaderPool &pool, bool callTime, Callback dependsOn) {
    if (begin.block == end.block && begin.position.at >= end.position.at)
      return skipEmpty(begin, end, range, callTime);
    // The end first, so that the beginning stays where it is found.
    if (!cutAt(end, range, callTime) || !cutAt(begin, range, callTime))
      return false;
    Spot at = last_;
    uint32_t between = 0;
    for (;; ++between) {
      visit(cut(at), writes, op, pool, dependsOn);
      at = next(at);
      if (!before(cut(at), end))
        break;
    }
    if (writes && between > 0)
      eraseBetween(last_, at);
    return true;
  }

  /// The same for what an access before it has cut just so, if it is where the last one
  /// was: most are. False: nothing was done.
  template <typename Callback>
  bool accessAgain(const Region &region, bool writes, OpId op, ReaderPool &pool,
                   Callback dependsOn) {
    const Chunk &chunk = order_[last_.chunk];
    const Slice &s = region.slice;
    if (last_.cut + 1 >= chunk.count)
      return false;
    Cut &first = chunk.cuts[last_.cut];
    const Cut &second = chunk.cuts[last_.cut + 1];
    uint32_t block = s.block == kNoBlock ? 0 : s.block;
    bool same = first.at == region.beginAt && second.at == region.endAt &&
                first.scale == s.beginScale && first.offset == s.beginOffset &&
                second.scale == s.endScale && second.offset == s.endOffset &&
                first.denominator == s.denominator && second.denominator == s.denominator &&
                first.block == block && second.block == block && first.at < second.at;
    if (same)
      visit(first, writes, op, pool, dependsOn);
    return same;
  }

private:
  struct Cut {
    int64_t at;
    int64_t scale, offset;
    uint32_t denominator;
    uint32_t block;
    OpId writer;
    uint32_t readers;

    Position position() const { return {scale, offset, denominator, at}; }
  };

  /// Cuts side by side; never empty.
  struct Chunk {
    Cut *cuts;
    uint32_t count;
    uint32_t capacity;
  };

  struct Spot {
    uint32_t chunk = 0; ///< index into order_
    uint32_t cut = 0;
  };

  static constexpr uint32_t kFirstCuts = 4;
  static constexpr uint32_t kCuts = 32;
  struct Block {
    Cut cuts[kCuts];
  };

  template <typename Callback>
  static void visit(Cut &cut, bool writes, OpId op, ReaderPool &pool, Callback dependsOn) {
    if (!writes) {
      if (cut.writer != kNoOp)
        dependsOn(cut.writer, ReaderPool::kEmpty);
      cut.readers = pool.push(op, cut.readers);
      return;
    }
    if (cut.readers == ReaderPool::kEmpty && cut.writer != kNoOp)
      dependsOn(cut.writer, ReaderPool::kEmpty); // else the readers wait for it already
    for (uint32_t r = cut.readers; r != ReaderPool::kEmpty; r = pool.nodes[r].next)
      if (!dependsOn(pool.nodes[r].op, r))
        break;
    cut.writer = op;
    cut.readers = ReaderPool::kEmpty;
  }

  static bool before(const Cut &cut, const BufferPlace &place) {
    return cut.block != place.block ? cut.block < place.block : cut.at < place.position.at;
  }
  static bool behind(const Cut &cut, const BufferPlace &place) {
    return cut.block != place.block ? cut.block > place.block : cut.at > place.position.at;
  }

  Cut &cut(Spot s) { return order_[s.chunk].cuts[s.cut]; }
  bool isLast(Spot s) const {
    return s.cut + 1 == order_[s.chunk].count && s.chunk + 1 == order_.size();
  }
  Spot next(Spot s) const {
    return s.cut + 1 < order_[s.chunk].count ? Spot{s.chunk, s.cut + 1} : Spot{s.chunk + 1, 0};
  }

  Spot find(const BufferPlace &place);
  Spot search(const BufferPlace &place) const;
  bool holds(Spot s, const BufferPlace &place);
  bool cutAt(const BufferPlace &place, SizeRange &range, bool callTime);
  Spot insertAfter(Spot s, const Cut &cut);
  void makeRoom(uint32_t chunk, uint32_t at);
  void eraseBetween(Spot begin, Spot end);
  Cut *newBlock();
  void freeBlock(const Chunk &chunk);
  static bool skipEmpty(const BufferPlace &begin, const BufferPlace &end, SizeRange &range,
                        bool callTime);

  std::vector<Chunk> order_;
  Spot last_;             ///< where the last cut was found or made
  Cut first_[kFirstCuts]; ///< of a map with few cuts; the very first stands before all places
  std::vector<std::unique_ptr<Block>> blocks_;
  uint32_t usedBlocks_ = 0;
  std::vector<Cut *> freeBlocks_;
};

} // namespace colldsl
