/// Whether slices lie in their buffers: what loader and parser check before they
/// let a schedule in, and what a plan checks before it binds other sizes.
#pragma once

#include "ir/Result.h"
#include "ir/Slice.h"

namespace colldsl {

/// Positions beyond this many elements are refused: differences of two, in bytes, then fit 63 bits.
constexpr int64_t farthestElement(uint64_t elementBytes) {
  return static_cast<int64_t>((uint64_t{1} << 61) / (elementBytes < 8 ? 8 : elementBytes));
}

/// The buffer's fields make sense, and at n it holds a number of bytes that can be
/// addressed, with elements of so many bytes (0: of any type). Aliases and names are not looked at.
Status checkBuffer(const Buffer &buffer, uint64_t n, uint64_t elementBytes = 0);

/// Of a block whose length is known at call time only: whether it is all of it.
constexpr bool isWholeBlock(const Slice &s) {
  return s.beginScale == 0 && s.beginOffset == 0 && s.endOffset == 0 &&
         s.endScale == int64_t{s.denominator};
}

/// The slice's fields make sense for its buffer. In a Dense buffer it lies inside
/// at n. In a block whose length is known at call time only, the block exists; one of capacity is
/// taken as a whole.
Status checkSlice(const Slice &slice, const Buffer &buffer, uint64_t n, uint64_t elementBytes = 0);

/// A buffer that is an alias of itself, over any number of others, or kNoBuffer. Each
/// aliasOf must be kNoBuffer or name one of the buffers.
BufferId findAliasCycle(std::span<const Buffer> buffers);

} // namespace colldsl
