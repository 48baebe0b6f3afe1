// Slices: cutting buffers, symbolically in the size.
#include "instantiate/Interpreter.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace colldsl {
namespace {

/// The binary algorithm (Stein): a division takes as long as all of a step here.
uint64_t commonDivisor(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0)
    return a | b;
  int shift = std::countr_zero(a | b);
  a >>= std::countr_zero(a);
  do {
    b >>= std::countr_zero(b);
    if (a > b)
      std::swap(a, b);
    b -= a;
  } while (b != 0);
  return a << shift;
}

/// The end of a range of one index. INT64_MAX has none: it yields INT64_MIN, and the range is
/// refused.
constexpr int64_t nextIndex(int64_t i) { return i == INT64_MAX ? INT64_MIN : i + 1; }

/// "part 3", "parts 3..5".
std::string indexWords(const std::string &noun, bool one, int64_t lo, int64_t hi) {
  return one ? noun + " " + std::to_string(lo)
             : noun + "s " + std::to_string(lo) + ".." + std::to_string(hi);
}

constexpr bool isSmall(Int128 x) { return x >= 0 && x <= INT32_MAX; }

constexpr Int128 magnitude(Int128 x) { return x < 0 ? -x : x; }

Int128 wideCommonDivisor(Int128 a, Int128 b) {
  while (b != 0)
    a = std::exchange(b, a % b);
  return a;
}

/// (scale * n + offset) / denominator in lowest terms, so that equal cuts have equal forms.
bool reduce(Int128 scale, Int128 offset, Int128 denominator, Position &out) {
  constexpr Int128 limit = INT64_MAX / 2;
  if (magnitude(scale) <= limit && magnitude(offset) <= limit && denominator <= limit) {
    auto d = static_cast<uint64_t>(denominator);
    uint64_t g = commonDivisor(d, static_cast<uint64_t>(magnitude(scale)));
    if (g > 1)
      g = commonDivisor(g, static_cast<uint64_t>(magnitude(offset)));
    if (d / g > UINT32_MAX)
      return false;
    auto divisor = static_cast<int64_t>(g);
    out.scale = static_cast<int64_t>(scale) / divisor;
    out.offset = static_cast<int64_t>(offset) / divisor;
    out.denominator = static_cast<uint32_t>(d / g);
    return true;
  }
  Int128 g = wideCommonDivisor(wideCommonDivisor(denominator, magnitude(scale)), magnitude(offset));
  scale /= g;
  offset /= g;
  denominator /= g;
  if (magnitude(scale) > limit || magnitude(offset) > limit || denominator > UINT32_MAX)
    return false;
  out.scale = static_cast<int64_t>(scale);
  out.offset = static_cast<int64_t>(offset);
  out.denominator = static_cast<uint32_t>(denominator);
  return true;
}

} // namespace

/// Moves a position by a number of elements that the buffer has, so that `at` does not overflow.
Position Interpreter::displace(const Position &p, int64_t elements, SourceLoc loc) {
  Position moved = p;
  int64_t offset = 0;
  if (__builtin_mul_overflow(elements, int64_t{p.denominator}, &offset) ||
      __builtin_add_overflow(p.offset, offset, &moved.offset)) {
    fail(loc, "cut too often: its position does not fit 64 bits");
    return p;
  }
  moved.at += elements;
  return moved;
}

/// The point i/k of the way from the slice's begin to its end.
Position Interpreter::interpolate(const SliceValue &s, Int128 i, Int128 k, SourceLoc loc) {
  const Position &x = s.begin, &y = s.end;
  if (i == 0)
    return x;
  if (i == k)
    return y;
  if (int64_t numerator = 0; x.scale == 0 && x.offset == 0 && y.offset == 0 && y.denominator == 1 &&
                             !s.inBlock() && isSmall(i) && isSmall(k) && isSmall(y.scale)) {
    numerator = y.scale * static_cast<int64_t>(i); // of a whole buffer, as nearly always
    auto g = static_cast<int64_t>(
        commonDivisor(static_cast<uint64_t>(numerator), static_cast<uint64_t>(k)));
    auto denominator = static_cast<uint32_t>(static_cast<int64_t>(k) / g);
    numerator /= g;
    return {numerator, 0, denominator, positionAt(numerator, 0, denominator, range_.n())};
  }
  Int128 dx = x.denominator, dy = y.denominator;
  Position p;
  // x + (y - x) * i / k over the common denominator dx * dy * k
  bool fits = reduce(x.scale * dy * (k - i) + y.scale * dx * i,
                     x.offset * dy * (k - i) + y.offset * dx * i, dx * dy * k, p);
  if (!fits) {
    fail(loc, "cut too often: its position does not fit 64 bits");
    return x;
  }
  p.at = positionAt(p.scale, p.offset, p.denominator, s.inBlock() ? 0 : range_.n());
  if (s.inBlock())
    p.at = positionAt(p.scale, p.offset, p.denominator, uint64_t{1} << 32);
  return p;
}

/// Replaces the symbolic ends by numbers, which hold for this n only.
void Interpreter::makeConstant(SliceValue &s) {
  if (s.begin.scale != 0 || s.end.scale != 0)
    range_.pin();
  s.begin = range_.constant(s.begin.at);
  s.end = range_.constant(s.end.at);
}

/// Narrows the sizes to those at which the slice has at least so many elements.
void Interpreter::keepWithin(const SliceValue &s, int64_t elements, SourceLoc loc) {
  if (s.inBlock())
    return;
  Position end = displace(s.begin, elements, loc);
  if (!failed_)
    range_.keepLessEqual(end, s.end);
}

/// The beginning of block i, which is the end of the one before. It lies between the slice's ends,
/// so nothing overflows.
Position Interpreter::blockPosition(const SliceValue &s, int64_t i, SourceLoc loc) {
  if (s.shape == BlockShape::Counts)
    return displace(s.begin, list(s.prefix)[i], loc);
  return {s.begin.scale + s.stride.scale * i, s.begin.offset + s.stride.offset * i, 1,
          s.begin.at + s.stride.at * i};
}

SliceValue Interpreter::blockOf(const SliceValue &s, int64_t i, SourceLoc loc) {
  SliceValue block = s;
  block.shape = BlockShape::None;
  block.blocks = 0;
  if (s.isWholeBuffer2d()) {
    block.block = static_cast<uint32_t>(i);
    block.begin = {0, 0, 1, 0};
    block.end = {1, 0, 1, int64_t{1} << 32}; // any length; cuts are compared at this one
    return block;
  }
  block.begin = blockPosition(s, i, loc);
  block.end = blockPosition(s, i + 1, loc);
  return block;
}

/// "'y', which has 1 block", "a slice of 'y', which has 4 blocks".
std::string Interpreter::blocksWords(const SliceValue &s) const {
  std::string count =
      ", which has " + std::to_string(s.blocks) + (s.blocks == 1 ? " block" : " blocks");
  if (s.buffer == kNoBuffer)
    return "a buffer that is significant on another rank" + count;
  const Buffer &buffer = dag_->buffers[index(s.buffer)];
  auto isAt = [&](const Position &p, int64_t scale, int64_t offset) {
    return Int128{p.scale} * buffer.denominator == Int128{scale} * p.denominator &&
           Int128{p.offset} * buffer.denominator == Int128{offset} * p.denominator;
  };
  bool isWhole = s.isWholeBuffer2d() || (isAt(s.begin, buffer.originScale, buffer.originOffset) &&
                                         isAt(s.end, buffer.endScale, buffer.endOffset));
  return (isWhole ? "'" : "a slice of '") + text(buffer.name) + "'" + count;
}

SliceValue Interpreter::blockAt(const SliceValue &s, int64_t i, const Expr &e) {
  if (i == kNone || i < 0 || i >= s.blocks) {
    fail(e.loc, "block " + (i == kNone ? "'none'" : std::to_string(i)) + " of " + blocksWords(s));
    return s;
  }
  return blockOf(s, i, e.loc);
}

SliceValue Interpreter::blocksAt(const SliceValue &s, int64_t lo, int64_t hi, const Expr &e) {
  if (s.isWholeBuffer2d()) {
    fail(e.loc, "blocks of call-time length need not lie side by side",
         "list them: [for i in a..b: y[i]]");
    return s;
  }
  if (lo < 0 || hi < lo || hi > s.blocks) {
    fail(e.loc, indexWords("block", false, lo, hi) + " of " + blocksWords(s));
    return s;
  }
  SliceValue result = s;
  result.begin = blockPosition(s, lo, e.loc);
  result.end = blockPosition(s, hi, e.loc);
  result.blocks = static_cast<uint32_t>(hi - lo);
  if (s.shape == BlockShape::Counts && step(e.loc, static_cast<uint64_t>(hi - lo))) {
    result.prefix = newList();
    const std::vector<int64_t> &all = list(s.prefix);
    for (int64_t i = lo; i <= hi; ++i)
      list(result.prefix).push_back(all[i] - all[lo]);
  }
  return result;
}

bool Interpreter::isCapacity(const SliceValue &s) const {
  return s.inBlock() && s.buffer != kNoBuffer &&
         dag_->buffers[index(s.buffer)].layout == Layout::Capacity;
}

/// Reports a slice whose elements or parts are known at call time only.
void Interpreter::failDivided(const std::string &what, const SliceValue &s, SourceLoc loc) {
  if (s.isWholeBuffer2d())
    return fail(loc, what + " of blocks whose lengths are known at call time only",
                "name a block: y[i]");
  if (isCapacity(s))
    return fail(loc, what + " of a block whose length travels with its messages; it is read and "
                            "written as a whole");
  fail(loc, what + " of a block whose length is known at call time only", "use part(b, i of k)");
}

SliceValue Interpreter::elementAt(const SliceValue &s, int64_t i, const Expr &e) {
  return elementsAt(s, i, nextIndex(i), e);
}

SliceValue Interpreter::elementsAt(const SliceValue &s, int64_t lo, int64_t hi, const Expr &e) {
  if (s.inBlock()) {
    failDivided("elements", s, e.loc);
    return s;
  }
  if (lo < 0 || hi < lo || hi > s.length()) {
    fail(e.loc, indexWords("element", e.c == kNoExpr, lo, hi) + " of a slice that has " +
                    std::to_string(s.length()) + " elements");
    return s;
  }
  keepWithin(s, hi, e.loc);
  SliceValue result = s;
  result.begin = displace(s.begin, lo, e.loc);
  result.end = displace(s.begin, hi, e.loc);
  result.shape = BlockShape::None;
  result.blocks = 0;
  return result;
}

/// part(b, lo of k), part(b, lo..hi of k): cuts at floor(i * length / k), so that pieces
/// differ by one element at most.
SliceValue Interpreter::partsAt(const SliceValue &s, int64_t lo, int64_t hi, int64_t count,
                                const Expr &e) {
  if (s.isWholeBuffer2d() || isCapacity(s)) {
    failDivided("part", s, e.loc);
    return s;
  }
  if (count <= 0 || count > UINT32_MAX || lo < 0 || hi < lo || hi > count) {
    bool one = ExprId{program_.operands[index(e.a) + 2]} == kNoExpr;
    fail(e.loc, indexWords("part", one, lo, hi) + " of " + std::to_string(count));
    return s;
  }
  SliceValue result = s;
  result.shape = BlockShape::None;
  result.blocks = 0;
  result.begin = interpolate(s, lo, count, e.loc);
  result.end = interpolate(s, hi, count, e.loc);
  return result;
}

Slice Interpreter::toSlice(const SliceValue &s, SourceLoc loc) {
  Slice slice;
  slice.buffer = s.buffer;
  slice.block = s.block;
  if (s.begin.denominator == s.end.denominator) {
    slice.denominator = s.begin.denominator;
    slice.beginScale = s.begin.scale;
    slice.beginOffset = s.begin.offset;
    slice.endScale = s.end.scale;
    slice.endOffset = s.end.offset;
    return slice;
  }
  uint64_t common = std::lcm(uint64_t{s.begin.denominator}, uint64_t{s.end.denominator});
  if (common > UINT32_MAX) {
    fail(loc, "cut too often: its position does not fit 64 bits");
    return slice;
  }
  auto fb = static_cast<int64_t>(common / s.begin.denominator);
  auto fe = static_cast<int64_t>(common / s.end.denominator);
  slice.denominator = static_cast<uint32_t>(common);
  bool overflow = __builtin_mul_overflow(s.begin.scale, fb, &slice.beginScale) |
                  __builtin_mul_overflow(s.begin.offset, fb, &slice.beginOffset) |
                  __builtin_mul_overflow(s.end.scale, fe, &slice.endScale) |
                  __builtin_mul_overflow(s.end.offset, fe, &slice.endOffset);
  if (overflow)
    fail(loc, "cut too often: its position does not fit 64 bits");
  return slice;
}

void Interpreter::failInsignificant(SourceLoc loc) {
  fail(loc, "this buffer is significant at one rank only, and this is another");
}

void Interpreter::pushRegion(const SliceValue &s, std::vector<Region> &out, SourceLoc loc) {
  if (!checkSignificant(s.buffer, loc))
    return;
  if (s.isWholeBuffer2d()) {
    for (uint32_t i = 0; i < s.blocks && step(loc); ++i)
      pushRegion(blockOf(s, i, loc), out, loc);
    return;
  }
  out.push_back({toSlice(s, loc), s.begin.at, s.end.at});
}

/// Joins slices of a list of which one ends where the next one begins, for every size.
/// Example: [y[0], y[1], y[3]] of equal blocks is y[0..2n], y[3n..4n].
void Interpreter::joinAdjacent(std::vector<Region> &regions) {
  size_t last = 0;
  for (size_t i = 1; i < regions.size(); ++i) {
    Slice &before = regions[last].slice;
    const Slice &next = regions[i].slice;
    bool isAdjacent = before.block == kNoBlock && next.block == kNoBlock &&
                      before.buffer == next.buffer && before.denominator == next.denominator &&
                      before.endScale == next.beginScale && before.endOffset == next.beginOffset;
    if (isAdjacent) {
      before.endScale = next.endScale;
      before.endOffset = next.endOffset;
      regions[last].endAt = regions[i].endAt;
    } else {
      regions[++last] = regions[i];
    }
  }
  regions.resize(std::min(regions.size(), last + 1));
}

/// True if the list has at most 2^56 elements: more than any buffer has, and sums of them do not
/// overflow. Blocks whose lengths are known at call time only do not count.
bool Interpreter::checkTotal(std::span<const Region> regions, SourceLoc loc) {
  constexpr int64_t most = int64_t{1} << 56;
  int64_t left = most;
  for (const Region &region : regions) {
    int64_t length = region.slice.block == kNoBlock ? region.endAt - region.beginAt : 0;
    if (length > left) {
      fail(loc, "a list of slices of more than 2^56 elements");
      return false;
    }
    left -= length;
  }
  return true;
}

/// Prepares a cut with small numbers. False if they are not small.
bool Interpreter::prepareCut(int64_t scale, int64_t count) {
  int64_t last = 0;
  auto n = static_cast<int64_t>(range_.n());
  if (!isSmall(scale) || !isSmall(count) || count == 0 || n < 0 ||
      __builtin_mul_overflow(scale * count, n, &last))
    return false;
  auto g = static_cast<int64_t>(
      commonDivisor(static_cast<uint64_t>(scale), static_cast<uint64_t>(count)));
  cut_ = {scale, count, scale / g, static_cast<uint32_t>(count / g)};
  cut_.quotient = cut_.numerator * n / cut_.denominator;
  cut_.remainder = cut_.numerator * n % cut_.denominator;
  return true;
}

/// Cuts one of equal parts of a whole buffer, as most parts are. Both of its ends get one
/// denominator. False, and no effect, for any other slice.
bool Interpreter::cutWhole(const SliceValue &s, int64_t i, int64_t count, SliceValue &out) {
  bool isWhole = s.begin.scale == 0 && s.begin.offset == 0 && s.end.offset == 0 &&
                 s.end.denominator == 1 && !s.inBlock() && !s.isWholeBuffer2d();
  if (!isWhole || i < 0 || i >= count || !isCutInto(s.end.scale, count))
    return false;
  int64_t scale = i * cut_.numerator;
  uint64_t product = static_cast<uint64_t>(scale) * range_.n();
  auto at = static_cast<int64_t>(product / cut_.denominator);
  auto rest = static_cast<int64_t>(product % cut_.denominator) + cut_.remainder;
  out.begin = {scale, 0, cut_.denominator, at};
  out.end = {scale + cut_.numerator, 0, cut_.denominator,
             at + cut_.quotient + (rest >= cut_.denominator ? 1 : 0)};
  out.buffer = s.buffer;
  out.block = kNoBlock;
  out.type = s.type;
  out.shape = BlockShape::None;
  out.blocks = 0;
  return true;
}

void Interpreter::partAt(const SliceValue &s, int64_t i, int64_t count, const Expr &e,
                         SliceValue &out) {
  if (!cutWhole(s, i, count, out))
    out = partsAt(s, i, nextIndex(i), count, e);
}

/// Segments of floor(size / bytes of an element) elements, at least one; the last may be shorter.
void Interpreter::beginSegments(const SliceValue &s, int64_t bytes, SourceLoc loc, int64_t *loop) {
  if (bytes <= 0 || s.inBlock() || s.isWholeBuffer2d())
    return bytes <= 0 ? fail(loc, "segments of " + std::to_string(bytes) + " bytes")
                      : failDivided("segments", s, loc);
  // A number beyond the slice's length stands for all of it, and does not overflow below.
  constexpr int64_t kMost = int64_t{1} << 29;
  int64_t elements =
      std::clamp<int64_t>(bytes / elementBytes(s.type), 1, std::max(s.length(), kMost));
  int64_t count = (s.length() + elements - 1) / elements;
  Position lastElement = displace(s.begin, count > 0 ? (count - 1) * elements + 1 : 0, loc);
  Position end = displace(s.begin, count * elements, loc);
  if (failed_)
    return;
  if (count > 0)
    range_.keepLessEqual(lastElement, s.end);
  range_.keepLessEqual(s.end, end);
  loop[kSegment] = 0;
  loop[kSegmentCount] = count;
  loop[kSegmentElements] = elements;
}

SliceValue Interpreter::segmentAt(const SliceValue &s, const int64_t *loop, SourceLoc loc) {
  int64_t i = loop[kSegment], elements = loop[kSegmentElements];
  SliceValue piece = s;
  piece.shape = BlockShape::None;
  piece.blocks = 0;
  piece.begin = displace(s.begin, i * elements, loc);
  if (i + 1 < loop[kSegmentCount])
    piece.end = displace(s.begin, (i + 1) * elements, loc);
  return piece;
}

// Regions for the next statement

void Interpreter::carryWhole(const SliceValue &s, SourceLoc loc) { pushRegion(s, carried_, loc); }

void Interpreter::carryBlock(const SliceValue &s, int64_t i, const Expr &e) {
  if (s.shape == BlockShape::Equal && static_cast<uint64_t>(i) < s.blocks) [[likely]]
    return carryEqualBlocks(s, i, 1, e.loc);
  SliceValue block = blockAt(s, i, e);
  if (!failed_)
    pushRegion(block, carried_, e.loc);
}

void Interpreter::carryBlocks(const SliceValue &s, int64_t lo, int64_t hi, const Expr &e) {
  if (s.shape == BlockShape::Equal && 0 <= lo && lo <= hi && hi <= s.blocks) [[likely]]
    return carryEqualBlocks(s, lo, hi - lo, e.loc);
  SliceValue blocks = blocksAt(s, lo, hi, e);
  if (!failed_)
    pushRegion(blocks, carried_, e.loc);
}

void Interpreter::carryEqualBlocks(const SliceValue &s, int64_t first, int64_t count,
                                   SourceLoc loc) {
  if (!checkSignificant(s.buffer, loc))
    return;
  Region &region = carried_.emplace_back();
  region.slice.beginScale = s.begin.scale + s.stride.scale * first;
  region.slice.beginOffset = s.begin.offset + s.stride.offset * first;
  region.slice.endScale = region.slice.beginScale + s.stride.scale * count;
  region.slice.endOffset = region.slice.beginOffset + s.stride.offset * count;
  region.slice.buffer = s.buffer;
  region.beginAt = s.begin.at + s.stride.at * first;
  region.endAt = region.beginAt + s.stride.at * count;
}

void Interpreter::carryPart(const SliceValue &s, int64_t i, int64_t count, const Expr &e) {
  SliceValue part;
  partAt(s, i, count, e, part);
  if (!failed_)
    pushRegion(part, carried_, e.loc);
}

} // namespace colldsl
