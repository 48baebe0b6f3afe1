#include "ir/Bounds.h"

#include "ir/Concat.h"

namespace colldsl {
namespace {

/// Positions, floor((scale * n + offset) / denominator), that are not too far out.
struct Near {
  uint64_t n;
  Int128 farthest;

  bool operator()(int64_t scale, int64_t offset, uint32_t denominator) const {
    Int128 numerator = static_cast<Int128>(scale) * static_cast<Int128>(n) + offset;
    Int128 limit = farthest * denominator;
    return -limit <= numerator && numerator <= limit;
  }
};

Status checkRange(int64_t begin, int64_t end, int64_t low, int64_t high) {
  if (begin > end)
    return Status::error(concat("begins at element ", begin, " and ends before it, at ", end));
  if (begin < low || end > high)
    return Status::error(
        concat("covers elements ", begin, "..", end, ", the buffer has ", low, "..", high));
  return {};
}

Status checkBlock(const Slice &slice, const Buffer &buffer) {
  if (buffer.layout == Layout::Dense)
    return Status::error(concat("names block ", slice.block, " of a buffer without blocks"));
  if (slice.block >= buffer.blocks)
    return Status::error(
        concat("names block ", slice.block, ", the buffer has ", buffer.blocks, " blocks"));
  if (buffer.layout == Layout::Capacity && !isWholeBlock(slice))
    return Status::error(
        concat("is a part of block ", slice.block, ", whose length travels with its messages"));
  return {};
}

} // namespace

Status checkBuffer(const Buffer &b, uint64_t n, uint64_t elementBytes) {
  Near isNear{n, farthestElement(elementBytes)};
  if (b.denominator == 0)
    return Status::error("has a zero denominator");
  if (b.blocks > kMostBlocks)
    return Status::error(concat("has ", b.blocks, " blocks, the limit is ", kMostBlocks));
  if (!isNear(b.originScale, b.originOffset, b.denominator) ||
      !isNear(b.endScale, b.endOffset, b.denominator))
    return Status::error(concat("is too large at n = ", n));
  int64_t origin = positionAt(b.originScale, b.originOffset, b.denominator, n);
  int64_t end = positionAt(b.endScale, b.endOffset, b.denominator, n);
  return checkRange(origin, end, origin, end);
}

Status checkSlice(const Slice &s, const Buffer &buffer, uint64_t n, uint64_t elementBytes) {
  Near isNear{n, farthestElement(elementBytes)};
  if (s.denominator == 0)
    return Status::error("has a zero denominator");
  if (s.reserved != 0)
    return Status::error("has a reserved field that is not zero");
  if (s.block != kNoBlock)
    return checkBlock(s, buffer);
  if (!isNear(s.beginScale, s.beginOffset, s.denominator) ||
      !isNear(s.endScale, s.endOffset, s.denominator))
    return Status::error(concat("lies too far out at n = ", n));
  int64_t begin = positionAt(s.beginScale, s.beginOffset, s.denominator, n);
  int64_t end = positionAt(s.endScale, s.endOffset, s.denominator, n);
  if (buffer.layout != Layout::Dense)
    return checkRange(begin, end, begin, end);
  int64_t low = positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n);
  int64_t high = positionAt(buffer.endScale, buffer.endOffset, buffer.denominator, n);
  return checkRange(begin, end, low, high);
}

// Each buffer has at most one alias to follow: walk on until a buffer that is known
// to end well, or one of this walk. Every buffer is walked over at most twice.
BufferId findAliasCycle(std::span<const Buffer> buffers) {
  enum State : uint8_t { Unknown, OnWalk, Fine };
  std::vector<State> states(buffers.size(), Unknown);
  auto next = [&](BufferId b) { return buffers[index(b)].aliasOf; };
  auto is = [&](BufferId b, State state) { return b != kNoBuffer && states[index(b)] == state; };
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    BufferId b{i};
    for (; is(b, Unknown); b = next(b))
      states[index(b)] = OnWalk;
    if (is(b, OnWalk))
      return b;
    for (b = BufferId{i}; is(b, OnWalk); b = next(b))
      states[index(b)] = Fine;
  }
  return kNoBuffer;
}

} // namespace colldsl
