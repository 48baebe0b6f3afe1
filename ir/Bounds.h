/// Checks that slices lie in their buffers. Loader and parser run them before they let a schedule
/// in, a plan before it binds other sizes.
#pragma once

#include "ir/Result.h"
#include "ir/Slice.h"

namespace colldsl {

/// A bound buffer has a table entry for each of its blocks, of which it has no more.
inline constexpr uint32_t kMostBlocks = 1u << 24;

/// Positions beyond this many elements are refused: differences of two, in bytes, then fit 63 bits.
constexpr int64_t farthestElement(uint64_t elementBytes) {
  return static_cast<int64_t>((uint64_t{1} << 61) / (elementBytes < 8 ? 8 : elementBytes));
}

/// Checks that the buffer's fields make sense, and that at n it holds a number of bytes that can be
/// addressed, with elements of so many bytes (0: of any type). Does not look at aliases and names.
Status checkBuffer(const Buffer &buffer, uint64_t n, uint64_t elementBytes = 0);

/// True if a slice of a block whose length is known at call time only is the whole block.
constexpr bool isWholeBlock(const Slice &s) {
  return s.beginScale == 0 && s.beginOffset == 0 && s.endOffset == 0 &&
         s.endScale == int64_t{s.denominator};
}

/// Checks that the slice's fields make sense for its buffer. A slice of a Dense buffer must lie
/// inside at n. If the length of its block is known at call time only, the block must exist; a
/// block of capacity must be taken as a whole.
Status checkSlice(const Slice &slice, const Buffer &buffer, uint64_t n, uint64_t elementBytes = 0);

/// Elements of a Dense buffer, from one position to another.
struct Elements {
  int64_t begin = 0, end = 0;
};

/// The elements that a buffer has at n; for one that checkBuffer() accepts.
inline Elements elementsOf(const Buffer &buffer, uint64_t n) {
  return {positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n),
          positionAt(buffer.endScale, buffer.endOffset, buffer.denominator, n)};
}

// These exist for speed. False: the check of that name has to look.

/// Finds the position; for n of 63 bits and a denominator that is not 0.
inline bool isPlainPosition(int64_t scale, int64_t offset, uint32_t denominator, uint64_t n,
                            int64_t farthest, int64_t &found) {
  if (__builtin_mul_overflow(scale, static_cast<int64_t>(n), &found) ||
      __builtin_add_overflow(found, offset, &found))
    return false;
  if (denominator != 1)
    found = floorDiv(found, denominator);
  return -farthest < found && found < farthest;
}

/// True if the check of the buffer would accept it; `found` is then what elementsOf() returns.
inline bool isPlainBuffer(const Buffer &b, uint64_t n, int64_t farthest, Elements &found) {
  return n <= INT64_MAX && b.denominator != 0 && b.blocks <= kMostBlocks &&
         isPlainPosition(b.originScale, b.originOffset, b.denominator, n, farthest, found.begin) &&
         isPlainPosition(b.endScale, b.endOffset, b.denominator, n, farthest, found.end) &&
         found.begin <= found.end;
}

/// True if the check would accept that slice, without a block, of a Dense buffer that has `inside`;
/// `found` is then what the slice has.
inline bool isPlainSlice(const Slice &s, const Elements &inside, uint64_t n, int64_t farthest,
                         Elements &found) {
  return n <= INT64_MAX && s.denominator != 0 && s.reserved == 0 &&
         isPlainPosition(s.beginScale, s.beginOffset, s.denominator, n, farthest, found.begin) &&
         isPlainPosition(s.endScale, s.endOffset, s.denominator, n, farthest, found.end) &&
         inside.begin <= found.begin && found.begin <= found.end && found.end <= inside.end;
}

/// A buffer that is an alias of itself, over any number of others, or kNoBuffer. Each
/// aliasOf must be kNoBuffer or name one of the buffers.
BufferId findAliasCycle(std::span<const Buffer> buffers);

} // namespace colldsl
