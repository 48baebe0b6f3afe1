#include "ir/Bounds.h"

#include "ir/Concat.h"

namespace colldsl {
namespace {

// A bound buffer has a table entry for each of its blocks.
constexpr uint32_t kMaxBlocks = 1u << 24;

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
  if (b.blocks > kMaxBlocks)
    return Status::error(concat("has ", b.blocks, " blocks, the limit is ", kMaxBlocks));
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

Elements elementsOf(const Buffer &b, uint64_t n) {
  return {positionAt(b.originScale, b.originOffset, b.denominator, n),
          positionAt(b.endScale, b.endOffset, b.denominator, n)};
}

std::optional<Elements> elementsInside(const Slice &s, Elements inside, uint64_t n,
                                       int64_t farthest) {
  int64_t begin = 0, end = 0;
  bool isSmall = n <= INT64_MAX && s.denominator != 0 &&
                 !__builtin_mul_overflow(s.beginScale, static_cast<int64_t>(n), &begin) &&
                 !__builtin_add_overflow(begin, s.beginOffset, &begin) &&
                 !__builtin_mul_overflow(s.endScale, static_cast<int64_t>(n), &end) &&
                 !__builtin_add_overflow(end, s.endOffset, &end);
  if (!isSmall || s.reserved != 0)
    return std::nullopt;
  if (s.denominator != 1) {
    begin = floorDiv(begin, s.denominator);
    end = floorDiv(end, s.denominator);
  }
  bool isInside = -farthest < begin && inside.begin <= begin && begin <= end && end <= inside.end &&
                  end < farthest;
  return isInside ? std::optional(Elements{begin, end}) : std::nullopt;
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
