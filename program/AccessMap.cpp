#include "program/AccessMap.h"

#include <algorithm>

namespace colldsl {
namespace {

/// a <= b is so at the size at hand; makes it so for all sizes that are kept.
bool keepOrder(const Position &a, const Position &b, SizeRange &range, bool callTime) {
  if (callTime)
    return SizeRange::alwaysLessEqual(a, b);
  range.keepLessEqual(a, b);
  return true;
}

} // namespace

void AccessMap::clear() {
  first_[0] = {INT64_MIN, 0, INT64_MIN, 1, 0, kNoOp, ReaderPool::kEmpty};
  order_.assign(1, {first_, 1, kFirstCuts});
  last_ = {};
  usedBlocks_ = 0;
  freeBlocks_.clear();
}

/// Whether s is the last cut that is not behind the place.
bool AccessMap::holds(Spot s, const BufferPlace &place) {
  return !behind(cut(s), place) && (isLast(s) || behind(cut(next(s)), place));
}

/// The last cut that is not behind the place: mostly near the one before.
AccessMap::Spot AccessMap::find(const BufferPlace &place) {
  if (behind(cut(last_), place)) {
    if (last_.cut > 0) {
      Spot left{last_.chunk, last_.cut - 1};
      if (!behind(cut(left), place))
        return left;
    }
    return search(place);
  }
  if (isLast(last_))
    return last_;
  Spot right = next(last_);
  if (behind(cut(right), place))
    return last_;
  return holds(right, place) ? right : search(place);
}

AccessMap::Spot AccessMap::search(const BufferPlace &place) const {
  auto chunk = std::partition_point(order_.begin() + 1, order_.end(),
                                    [&](const Chunk &c) { return !behind(c.cuts[0], place); });
  --chunk;
  const Cut *begin = chunk->cuts, *end = begin + chunk->count;
  const Cut *found =
      std::partition_point(begin + 1, end, [&](const Cut &c) { return !behind(c, place); });
  return {static_cast<uint32_t>(chunk - order_.begin()), static_cast<uint32_t>(found - begin) - 1};
}

bool AccessMap::cutAt(const BufferPlace &place, SizeRange &range, bool callTime) {
  last_ = find(place);
  const Cut &left = cut(last_);
  const Position &p = place.position;
  if (!before(left, place)) {
    if (left.scale == p.scale && left.offset == p.offset && left.denominator == p.denominator)
      return true;
    return keepOrder(left.position(), p, range, callTime) &&
           keepOrder(p, left.position(), range, callTime);
  }
  bool isFirst = last_.chunk == 0 && last_.cut == 0;
  if (!isFirst && left.block == place.block && !keepOrder(left.position(), p, range, callTime))
    return false;
  if (!isLast(last_))
    if (const Cut &right = cut(next(last_));
        right.block == place.block && !keepOrder(p, right.position(), range, callTime))
      return false;
  last_ = insertAfter(
      last_, {p.at, p.scale, p.offset, p.denominator, place.block, left.writer, left.readers});
  return true;
}

AccessMap::Spot AccessMap::insertAfter(Spot s, const Cut &cut) {
  uint32_t at = s.cut + 1;
  if (order_[s.chunk].count == order_[s.chunk].capacity) {
    makeRoom(s.chunk, at);
    if (at > order_[s.chunk].count) { // its place is in the second half now
      at -= order_[s.chunk].count;
      ++s.chunk;
    }
  }
  Chunk &chunk = order_[s.chunk];
  std::copy_backward(chunk.cuts + at, chunk.cuts + chunk.count, chunk.cuts + chunk.count + 1);
  chunk.cuts[at] = cut;
  ++chunk.count;
  return {s.chunk, at};
}

/// Splits a full chunk where a cut is to be inserted, if that keeps walks in one direction
/// from leaving small chunks behind, else in the middle.
void AccessMap::makeRoom(uint32_t index, uint32_t at) {
  Chunk &full = order_[index];
  if (full.capacity < kCuts) {
    Cut *block = newBlock();
    std::copy(full.cuts, full.cuts + full.count, block);
    full.cuts = block;
    full.capacity = kCuts;
    return;
  }
  uint32_t keep = at <= kCuts / 2 ? at : kCuts / 2;
  if (at == kCuts)
    keep = kCuts - 1;
  Chunk rest{newBlock(), full.count - keep, kCuts};
  std::copy(full.cuts + keep, full.cuts + full.count, rest.cuts);
  full.count = keep;
  order_.insert(order_.begin() + index + 1, rest);
}

/// Both ends stay.
void AccessMap::eraseBetween(Spot begin, Spot end) {
  Chunk &left = order_[begin.chunk], &right = order_[end.chunk];
  uint32_t to = begin.chunk == end.chunk ? begin.cut + 1 : 0;
  std::copy(right.cuts + end.cut, right.cuts + right.count, right.cuts + to);
  right.count -= end.cut - to;
  if (begin.chunk == end.chunk)
    return;
  left.count = begin.cut + 1;
  for (uint32_t c = begin.chunk + 1; c < end.chunk; ++c)
    freeBlock(order_[c]);
  order_.erase(order_.begin() + begin.chunk + 1, order_.begin() + end.chunk);
}

AccessMap::Cut *AccessMap::newBlock() {
  if (!freeBlocks_.empty()) {
    Cut *block = freeBlocks_.back();
    freeBlocks_.pop_back();
    return block;
  }
  if (usedBlocks_ == blocks_.size())
    blocks_.push_back(std::make_unique<Block>());
  return blocks_[usedBlocks_++]->cuts;
}

void AccessMap::freeBlock(const Chunk &chunk) {
  if (chunk.capacity == kCuts)
    freeBlocks_.push_back(chunk.cuts);
}

bool AccessMap::skipEmpty(const BufferPlace &begin, const BufferPlace &end, SizeRange &range,
                          bool callTime) {
  if (begin.position.sameForm(end.position))
    return true;
  return begin.block != end.block || keepOrder(end.position, begin.position, range, callTime);
}

} // namespace colldsl
