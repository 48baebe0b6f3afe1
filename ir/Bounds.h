/// Checks that slices lie in their buffers. Loader and parser run them before they let a schedule
/// in, a plan before it binds other sizes.
#pragma once

#include "ir/Result.h"
#include "ir/Slice.h"

#include <optional>

namespace colldsl {

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

/// The elements that a buffer has at n; for a buffer that checkBuffer() accepts.
Elements elementsOf(const Buffer &buffer, uint64_t n);

/// The elements of a slice without a block, of a buffer that has `inside`; exists for speed. Empty:
/// checkSlice() refuses the slice, or has to look at it.
std::optional<Elements> elementsInside(const Slice &slice, Elements inside, uint64_t n,
                                       int64_t farthest);

/// A buffer that is an alias of itself, over any number of others, or kNoBuffer. Each
/// aliasOf must be kNoBuffer or name one of the buffers.
BufferId findAliasCycle(std::span<const Buffer> buffers);

} // namespace colldsl
