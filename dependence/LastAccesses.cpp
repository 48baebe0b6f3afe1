#include "dependence/LastAccesses.h"

#include <algorithm>

namespace colldsl {
namespace {

/// a <= b is so at the size at hand; makes it so for all sizes that are kept.
bool keepOrder(const Position &a, const Position &b, ValidityRange &range, bool callTime) {
  if (callTime)
    return ValidityRange::alwaysLessEqual(a, b);
  range.keepLessEqual(a, b);
  return true;
}

} // namespace

void LastAccesses::clear() {
  first_[0] = {INT64_MIN, 0, INT64_MIN, 1, 0, kNoOp, ReaderPool::kEmpty};
  order_.assign(1, {first_, 1, kFirstBoundaries});
  last_ = {};
  usedBlocks_ = 0;
  freeBlocks_.clear();
}

/// Whether s is the last boundary that is not behind the place.
bool LastAccesses::holds(Spot s, const BufferPlace &place) {
  return !behind(boundary(s), place) && (isLast(s) || behind(boundary(next(s)), place));
}

/// The last boundary that is not behind the place: mostly near the one before.
LastAccesses::Spot LastAccesses::find(const BufferPlace &place) {
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
  const Boundary *begin = chunk->boundaries, *end = begin + chunk->count;
  const Boundary *found =
      std::partition_point(begin + 1, end, [&](const Boundary &c) { return !behind(c, place); });
  return {static_cast<uint32_t>(chunk - order_.begin()), static_cast<uint32_t>(found - begin) - 1};
}

bool LastAccesses::boundaryAt(const BufferPlace &place, ValidityRange &range, bool callTime) {
  last_ = find(place);
  const Boundary &left = boundary(last_);
  const Position &p = place.position;
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

LastAccesses::Spot LastAccesses::insertAfter(Spot s, const Boundary &boundary) {
  uint32_t at = s.boundary + 1;
  if (order_[s.chunk].count == order_[s.chunk].capacity) {
    makeRoom(s.chunk, at);
    if (at > order_[s.chunk].count) { // its place is in the second half now
      at -= order_[s.chunk].count;
      ++s.chunk;
    }
  }
  Chunk &chunk = order_[s.chunk];
  std::copy_backward(chunk.boundaries + at, chunk.boundaries + chunk.count,
                     chunk.boundaries + chunk.count + 1);
  chunk.boundaries[at] = boundary;
  ++chunk.count;
  return {s.chunk, at};
}

/// Splits a full chunk where a boundary is to be inserted, if that keeps walks in one direction
/// from leaving small chunks behind, else in the middle.
void LastAccesses::makeRoom(uint32_t index, uint32_t at) {
  Chunk &full = order_[index];
  if (full.capacity < kBoundaries) {
    Boundary *block = newBlock();
    std::copy(full.boundaries, full.boundaries + full.count, block);
    full.boundaries = block;
    full.capacity = kBoundaries;
    return;
  }
  uint32_t keep = at <= kBoundaries / 2 ? at : kBoundaries / 2;
  if (at == kBoundaries)
    keep = kBoundaries - 1;
  Chunk rest{newBlock(), full.count - keep, kBoundaries};
  std::copy(full.boundaries + keep, full.boundaries + full.count, rest.boundaries);
  full.count = keep;
  order_.insert(order_.begin() + index + 1, rest);
}

/// Both ends stay.
void LastAccesses::eraseBetween(Spot begin, Spot end) {
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
    freeBlocks_.push_back(chunk.boundaries);
}

bool LastAccesses::skipEmpty(const BufferPlace &begin, const BufferPlace &end, ValidityRange &range,
                             bool callTime) {
  if (begin.position.sameForm(end.position))
    return true;
  return begin.block != end.block || keepOrder(end.position, begin.position, range, callTime);
}

} // namespace colldsl
