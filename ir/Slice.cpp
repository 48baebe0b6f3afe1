#include "ir/Slice.h"

#include <algorithm>
#include <cassert>

namespace colldsl {

int64_t dividedPositionAt(int64_t scale, int64_t offset, uint32_t denominator, uint64_t n) {
  int64_t product = 0, sum = 0;
  bool isSmall = n <= INT64_MAX &&
                 !__builtin_mul_overflow(scale, static_cast<int64_t>(n), &product) &&
                 !__builtin_add_overflow(product, offset, &sum);
  if (isSmall)
    return floorDiv(sum, denominator);
  Int128 numerator = static_cast<Int128>(scale) * static_cast<Int128>(n) + offset;
  Int128 quotient = numerator / denominator;
  if (numerator % denominator != 0 && numerator < 0)
    --quotient;
  return static_cast<int64_t>(quotient);
}

namespace {

// Elements from one position to another. Unsigned, so that positions of a hostile
// file wrap around instead of overflowing.
uint64_t distance(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

ByteRange resolveInBlock(const Slice &slice, uint64_t elementBytes, const BlockTable &table) {
  assert(slice.block < table.length.size() && "block size not given");
  uint64_t length = table.length[slice.block];
  int64_t begin = positionAt(slice.beginScale, slice.beginOffset, slice.denominator, length);
  int64_t end = positionAt(slice.endScale, slice.endOffset, slice.denominator, length);
  return {(table.offset[slice.block] + begin) * elementBytes, distance(begin, end) * elementBytes};
}

} // namespace

ByteRange resolve(const Slice &slice, const Buffer &buffer, const Sizes &sizes) {
  uint64_t elementBytes = sizes.elementBytesOf(buffer);
  if (slice.block != kNoBlock) {
    assert(index(slice.buffer) < sizes.blocks.size() && "block sizes not given");
    return resolveInBlock(slice, elementBytes, sizes.blocks[index(slice.buffer)]);
  }
  uint64_t n = sizes.elements;
  int64_t origin = positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n);
  int64_t begin = positionAt(slice.beginScale, slice.beginOffset, slice.denominator, n);
  int64_t end = positionAt(slice.endScale, slice.endOffset, slice.denominator, n);
  return {distance(origin, begin) * elementBytes, distance(begin, end) * elementBytes};
}

uint64_t extentBytes(const Buffer &buffer, const Sizes &sizes) {
  uint64_t n = sizes.elements;
  int64_t origin = positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n);
  int64_t end = positionAt(buffer.endScale, buffer.endOffset, buffer.denominator, n);
  return distance(origin, end) * sizes.elementBytesOf(buffer);
}

} // namespace colldsl
