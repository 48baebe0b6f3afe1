/// Buffers of bytes, for schedules that are made here and not from a text.
#pragma once

#include "ir/Dag.h"

namespace colldsl {

inline Slice bytesOf(BufferId buffer, uint64_t begin, uint64_t end) {
  Slice slice;
  slice.beginOffset = static_cast<int64_t>(begin);
  slice.endOffset = static_cast<int64_t>(end);
  slice.buffer = buffer;
  return slice;
}

inline BufferId addBytes(Dag &dag, BufferRole role, uint64_t bytes) {
  Buffer buffer;
  buffer.endOffset = static_cast<int64_t>(bytes);
  buffer.role = role;
  buffer.type = ElementType::U8;
  return dag.addBuffer(buffer);
}

} // namespace colldsl
