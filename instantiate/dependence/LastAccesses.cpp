#include "instantiate/dependence/LastAccesses.h"

#include <algorithm>

namespace colldsl {
namespace {

/// Keeps the sizes for which a <= b, which must hold at the size at hand. False: it cannot be told
/// for all sizes.
bool keepOrder(const Position &a, const Position &b, ValidityRange &range, bool callTime) {
  if (callTime)
    return ValidityRange::alwaysLessEqual(a, b);
  range.keepLessEqual(a, b);
  return true;
}

} // namespace

void LastAccesses::clear() {
  first_[0] = {INT64_MIN, 0, INT64_MIN, 1, 0, kNoOp, ReaderPool::kEmpty};
  order_.assign(1, {first_, 1, kFirstBoundaries, first_});
  last_ = {};
  usedBlocks_ = 0;
  freeBlocks_.clear();
}

/// True if s is the last boundary that is not behind the place.
inline bool LastAccesses::holds(Spot s, const BufferPlace &place) {
  return !behind(boundary(s), place) && (isLast(s) || behind(boundary(next(s)), place));
}

/// The last boundary that is not behind the place: mostly near the one before.
inline LastAccesses::Spot LastAccesses::find(const BufferPlace &place) {
  if (behind(boundary(last_), place)) {
    if (last_.boundary > 0) {
      Spot left{last_.chunk, last_.boundary - 1};
      if (!behind(boundary(left), place))
        return left;
    }
    return search(place);
  }
  if (isLast(last_))
    return last_;
  Spot right = next(last_);
  if (behind(boundary(right), place))
    return last_;
  return holds(right, place) ? right : search(place);
}

LastAccesses::Spot LastAccesses::search(const BufferPlace &place) const {
  auto chunk = std::partition_point(order_.begin() + 1, order_.end(), [&](const Chunk &c) {
    return !behind(c.boundaries[0], place);
  });
  --chunk;
  // Halves the candidates, without a branch that nothing predicts.
  const Boundary *found = chunk->boundaries;
  for (uint32_t candidates = chunk->count; candidates > 1;) {
    uint32_t half = candidates / 2;
    found = behind(found[half], place) ? found : found + half;
    candidates -= half;
  }
  return {static_cast<uint32_t>(chunk - order_.begin()),
          static_cast<uint32_t>(found - chunk->boundaries)};
}

/// Inserts a boundary, for which there is room. Moves the boundaries on the shorter side; if that
/// side has no room, all of them move first, to the other end. So a walk in either direction moves
/// a few each.
inline void LastAccesses::Chunk::insert(uint32_t at, const Boundary &boundary) {
  Boundary *endOfMemory = memory + capacity;
  if (at < count - at) {
    if (boundaries == memory)
      boundaries = std::copy_backward(boundaries, end(), endOfMemory);
    std::copy(boundaries, boundaries + at, boundaries - 1);
    --boundaries;
  } else {
    if (end() == endOfMemory) {
      std::copy(boundaries, end(), memory);
      boundaries = memory;
    }
    std::copy_backward(boundaries + at, end(), end() + 1);
  }
  boundaries[at] = boundary;
  ++count;
}

inline LastAccesses::Spot LastAccesses::insertAfter(Spot s, const Boundary &boundary) {
  uint32_t at = s.boundary + 1;
  if (order_[s.chunk].count == order_[s.chunk].capacity) {
    makeRoom(s.chunk, at);
    if (at > order_[s.chunk].count) { // its place is in the second half now
      at -= order_[s.chunk].count;
      ++s.chunk;
    }
  }
  order_[s.chunk].insert(at, boundary);
  return {s.chunk, at};
}

bool LastAccesses::boundaryAt(const BufferPlace &place, ValidityRange &range, bool callTime) {
  const Position &p = place.position;
  if (const Boundary &same = boundary(last_);
      same.at == p.at && same.block == place.block && same.position().sameForm(p))
    return true;
  last_ = find(place);
  const Boundary &left = boundary(last_);
  if (!before(left, place)) {
    if (left.scale == p.scale && left.offset == p.offset && left.denominator == p.denominator)
      return true;
    return keepOrder(left.position(), p, range, callTime) &&
           keepOrder(p, left.position(), range, callTime);
  }
  bool isFirst = last_.chunk == 0 && last_.boundary == 0;
  if (!isFirst && left.block == place.block && !keepOrder(left.position(), p, range, callTime))
    return false;
  if (!isLast(last_))
    if (const Boundary &right = boundary(next(last_));
        right.block == place.block && !keepOrder(p, right.position(), range, callTime))
      return false;
  last_ = insertAfter(
      last_, {p.at, p.scale, p.offset, p.denominator, place.block, left.writer, left.readers});
  return true;
}

/// Splits a full chunk where a boundary is to be inserted, if that keeps walks in one direction
/// from leaving small chunks behind, else in the middle.
void LastAccesses::makeRoom(uint32_t index, uint32_t at) {
  Chunk &full = order_[index];
  if (full.capacity < kBoundaries) {
    Boundary *block = newBlock();
    std::copy(full.boundaries, full.boundaries + full.count, block);
    full.boundaries = full.memory = block;
    full.capacity = kBoundaries;
    return;
  }
  uint32_t keep = at <= kBoundaries / 2 ? at : kBoundaries / 2;
  if (at == kBoundaries)
    keep = kBoundaries - 1;
  Boundary *block = newBlock();
  Chunk rest{block, full.count - keep, kBoundaries, block};
  std::copy(full.boundaries + keep, full.boundaries + full.count, rest.boundaries);
  full.count = keep;
  order_.insert(order_.begin() + index + 1, rest);
}

/// Erases the boundaries between two, which stay.
void LastAccesses::eraseBetween(Spot begin, Spot end) {
  if (begin.chunk == end.chunk && begin.boundary + 1 == end.boundary)
    return;
  Chunk &left = order_[begin.chunk], &right = order_[end.chunk];
  uint32_t to = begin.chunk == end.chunk ? begin.boundary + 1 : 0;
  std::copy(right.boundaries + end.boundary, right.boundaries + right.count, right.boundaries + to);
  right.count -= end.boundary - to;
  if (begin.chunk == end.chunk)
    return;
  left.count = begin.boundary + 1;
  for (uint32_t c = begin.chunk + 1; c < end.chunk; ++c)
    freeBlock(order_[c]);
  order_.erase(order_.begin() + begin.chunk + 1, order_.begin() + end.chunk);
}

LastAccesses::Boundary *LastAccesses::newBlock() {
  if (!freeBlocks_.empty()) {
    Boundary *block = freeBlocks_.back();
    freeBlocks_.pop_back();
    return block;
  }
  if (usedBlocks_ == blocks_.size())
    blocks_.push_back(std::make_unique<Block>());
  return blocks_[usedBlocks_++]->boundaries;
}

void LastAccesses::freeBlock(const Chunk &chunk) {
  if (chunk.capacity == kBoundaries)
    freeBlocks_.push_back(chunk.memory);
}

bool LastAccesses::skipEmpty(const BufferPlace &begin, const BufferPlace &end, ValidityRange &range,
                             bool callTime) {
  if (begin.position.sameForm(end.position))
    return true;
  return begin.block != end.block || keepOrder(end.position, begin.position, range, callTime);
}

} // namespace colldsl
