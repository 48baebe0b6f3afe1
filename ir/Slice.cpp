#include "ir/Slice.h"

#include <algorithm>
#include <cassert>

namespace colldsl {

int64_t positionAt(int64_t scale, int64_t offset, uint32_t denominator, uint64_t n) {
  __int128 numerator = static_cast<__int128>(scale) * static_cast<__int128>(n) + offset;
  __int128 quotient = numerator / denominator;
  if (numerator % denominator != 0 && numerator < 0)
    --quotient;
  return static_cast<int64_t>(quotient);
}

namespace {

ByteRange resolveInBlock(const Slice &slice, uint64_t elementBytes, const BlockTable &table) {
  uint64_t length = table.length[slice.block];
  int64_t begin = positionAt(slice.beginScale, slice.beginOffset, slice.denominator, length);
  int64_t end = positionAt(slice.endScale, slice.endOffset, slice.denominator, length);
  return {(table.offset[slice.block] + begin) * elementBytes, (end - begin) * elementBytes};
}

} // namespace

ByteRange resolve(const Slice &slice, const Buffer &buffer, const Sizes &sizes) {
  uint64_t elementBytes = sizeBytes(buffer.type);
  if (slice.block != kNoBlock) {
    assert(index(slice.buffer) < sizes.blocks.size() && "block sizes not given");
    return resolveInBlock(slice, elementBytes, sizes.blocks[index(slice.buffer)]);
  }
  uint64_t n = sizes.elements;
  int64_t origin = positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n);
  int64_t begin = positionAt(slice.beginScale, slice.beginOffset, slice.denominator, n);
  int64_t end = positionAt(slice.endScale, slice.endOffset, slice.denominator, n);
  return {(begin - origin) * elementBytes, (end - begin) * elementBytes};
}

uint64_t extentBytes(const Buffer &buffer, const Sizes &sizes) {
  uint64_t elementBytes = sizeBytes(buffer.type);
  uint64_t n = sizes.elements;
  int64_t origin = positionAt(buffer.originScale, buffer.originOffset, buffer.denominator, n);
  int64_t end = positionAt(buffer.endScale, buffer.endOffset, buffer.denominator, n);
  return (end - origin) * elementBytes;
}

} // namespace colldsl
