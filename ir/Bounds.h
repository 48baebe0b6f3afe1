/// Whether slices lie in their buffers: what loader and parser check before they
/// let a schedule in, and what a plan checks before it binds other sizes.
#pragma once

#include "ir/Result.h"
#include "ir/Slice.h"

namespace colldsl {

/// The buffer's fields make sense, and at n it holds a number of bytes that can be
/// addressed. Aliases and names are not looked at.
Status checkBuffer(const Buffer &buffer, uint64_t n);

/// The slice's fields make sense for its buffer. In a Dense buffer it lies inside
/// at n. In a block whose length is known at call time only, the block exists.
Status checkSlice(const Slice &slice, const Buffer &buffer, uint64_t n);

/// A buffer that is an alias of itself, over any number of others, or kNoBuffer. Each
/// aliasOf must be kNoBuffer or name one of the buffers.
BufferId findAliasCycle(std::span<const Buffer> buffers);

} // namespace colldsl
