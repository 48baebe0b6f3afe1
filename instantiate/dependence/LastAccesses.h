/// The last writer of each interval of one buffer, and the readers since: derives the
/// dependencies that data demands. Op B waits for an earlier op A exactly when they touch common
/// bytes and one of them writes; an edge that follows from others is not repeated.
///
/// Keeps boundaries in order of position; the state after a boundary (last writer, readers
/// since) holds up to the next one. Boundaries are compared at the size at hand, and the
/// validity range keeps the sizes for which they stay in that order.
///
/// Boundaries lie in chunks, as in a B-tree of two levels, and the last place is remembered: a
/// walk through a buffer, in either direction, costs a few comparisons per step, any
/// other access log(boundaries) and now and then a split.
#pragma once

#include "instantiate/dependence/ValidityRange.h"
#include "ir/Ids.h"
#include "ir/Index32.h"

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

  Node &operator[](uint32_t node) { return nodes_[node]; }
  const Node &operator[](uint32_t node) const { return nodes_[node]; }

  /// Intervals that had one list and are read at once have one list again.
  uint32_t push(OpId op, uint32_t list) {
    if (used_ > 0 && nodes_[used_ - 1].op == op && nodes_[used_ - 1].next == list)
      return used_ - 1;
    if (list != kEmpty && nodes_[list].op == op)
      return list;
    if (used_ == nodes_.size()) [[unlikely]]
      grow();
    nodes_[used_] = {op, list, list == kEmpty ? 1 : nodes_[list].length + 1};
    return used_++;
  }

  void clear() { used_ = 0; }

private:
  void grow() { nodes_.resize(index32(nodes_.size() * 2 + 64)); }

  std::vector<Node> nodes_; ///< the first used_ of them are in use: growing is no part of push()
  uint32_t used_ = 0;
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

class LastAccesses {
public:
  LastAccesses() { clear(); }
  LastAccesses(const LastAccesses &) = delete;
  LastAccesses &operator=(const LastAccesses &) = delete;
  void clear();

  /// Notes that `op` reads or writes [begin, end) and calls dependsOn(OpId, reader) for every older
  /// op it must wait for (an op may be named more than once). `reader`: its node in the pool,
  /// kEmpty for a writer. False from dependsOn: the rest of that list is taken care of.
  /// False: begin and end, or one of them and an older boundary, cannot be put in order for
  /// all sizes (only for blocks whose length is known at call time).
  template <typename Callback>
  bool access(const BufferPlace &begin, const BufferPlace &end, bool writes, OpId op,
              ValidityRange &range, ReaderPool &pool, bool callTime, Callback dependsOn) {
    if (begin.block == end.block && begin.position.at >= end.position.at)
      return skipEmpty(begin, end, range, callTime);
    // The end first, so that the beginning stays where it is found.
    if (!boundaryAt(end, range, callTime) || !boundaryAt(begin, range, callTime))
      return false;
    Spot behindLast = visitUpTo(end, writes, op, pool, dependsOn);
    if (writes)
      eraseBetween(last_, behindLast);
    return true;
  }

  /// Variant of access() for a region whose boundaries are already there, in the same form, at the
  /// place of the last access. The search may then be skipped, and the validity range has no new
  /// order to keep. Most accesses repeat a region in this way. False: nothing was done.
  template <typename Callback>
  bool accessAgain(const Region &region, bool writes, OpId op, ReaderPool &pool,
                   Callback dependsOn) {
    const Chunk &chunk = order_[last_.chunk];
    const Slice &s = region.slice;
    if (last_.boundary + 1 >= chunk.count)
      return false;
    Boundary &first = chunk.boundaries[last_.boundary];
    const Boundary &second = chunk.boundaries[last_.boundary + 1];
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
  struct Boundary {
    int64_t at;
    int64_t scale, offset;
    uint32_t denominator;
    uint32_t block;
    OpId writer;
    uint32_t readers;

    Position position() const { return {scale, offset, denominator, at}; }
  };

  /// Boundaries side by side, somewhere in the chunk's memory; never empty.
  struct Chunk {
    Boundary *boundaries;
    uint32_t count;
    uint32_t capacity;
    Boundary *memory;

    Boundary *end() const { return boundaries + count; }
    void insert(uint32_t at, const Boundary &boundary);
  };

  struct Spot {
    uint32_t chunk = 0; ///< index into order_
    uint32_t boundary = 0;
  };

  static constexpr uint32_t kFirstBoundaries = 4;
  static constexpr uint32_t kBoundaries = 128;
  struct Block {
    Boundary boundaries[kBoundaries];
  };

  template <typename Callback>
  [[gnu::always_inline]] static void visit(Boundary &boundary, bool writes, OpId op,
                                           ReaderPool &pool, Callback &dependsOn) {
    if (!writes) {
      if (boundary.writer != kNoOp)
        dependsOn(boundary.writer, ReaderPool::kEmpty);
      boundary.readers = pool.push(op, boundary.readers);
      return;
    }
    if (boundary.readers == ReaderPool::kEmpty && boundary.writer != kNoOp)
      dependsOn(boundary.writer, ReaderPool::kEmpty); // else the readers wait for it already
    for (uint32_t r = boundary.readers; r != ReaderPool::kEmpty; r = pool[r].next)
      if (!dependsOn(pool[r].op, r))
        break;
    boundary.writer = op;
    boundary.readers = ReaderPool::kEmpty;
  }

  /// Visits all boundaries before `end`, from the last place on. Returns the next one, which there
  /// is.
  template <typename Callback>
  Spot visitUpTo(const BufferPlace &end, bool writes, OpId op, ReaderPool &pool,
                 Callback &dependsOn) {
    uint32_t first = last_.boundary;
    for (uint32_t c = last_.chunk;; ++c, first = 0)
      for (Boundary *at = order_[c].boundaries + first, *past = order_[c].end(); at != past; ++at) {
        if (!before(*at, end))
          return {c, static_cast<uint32_t>(at - order_[c].boundaries)};
        visit(*at, writes, op, pool, dependsOn);
      }
  }

  static bool before(const Boundary &boundary, const BufferPlace &place) {
    return (boundary.block < place.block) |
           ((boundary.block == place.block) & (boundary.at < place.position.at));
  }
  static bool behind(const Boundary &boundary, const BufferPlace &place) {
    return (boundary.block > place.block) |
           ((boundary.block == place.block) & (boundary.at > place.position.at));
  }

  Boundary &boundary(Spot s) { return order_[s.chunk].boundaries[s.boundary]; }
  bool isLast(Spot s) const {
    return s.boundary + 1 == order_[s.chunk].count && s.chunk + 1 == order_.size();
  }
  Spot next(Spot s) const {
    return s.boundary + 1 < order_[s.chunk].count ? Spot{s.chunk, s.boundary + 1}
                                                  : Spot{s.chunk + 1, 0};
  }

  Spot find(const BufferPlace &place);
  Spot search(const BufferPlace &place) const;
  bool holds(Spot s, const BufferPlace &place);
  bool boundaryAt(const BufferPlace &place, ValidityRange &range, bool callTime);
  Spot insertAfter(Spot s, const Boundary &boundary);
  void makeRoom(uint32_t chunk, uint32_t at);
  void eraseBetween(Spot begin, Spot end);
  Boundary *newBlock();
  void freeBlock(const Chunk &chunk);
  static bool skipEmpty(const BufferPlace &begin, const BufferPlace &end, ValidityRange &range,
                        bool callTime);

  std::vector<Chunk> order_;
  Spot last_;                        ///< where the last boundary was found or made
  Boundary first_[kFirstBoundaries]; ///< of a map with few boundaries; the very first stands before
                                     ///< all places
  std::vector<std::unique_ptr<Block>> blocks_;
  uint32_t usedBlocks_ = 0;
  std::vector<Boundary *> freeBlocks_;
};

} // namespace colldsl
