/// Chunks of a buffer. Internal to formats.
#pragma once

#include "ir/Slice.h"

namespace colldsl::msccl {

/// A part of a buffer that has storage of its own, in chunks.
struct Range {
  BufferId buffer = kNoBuffer;
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool operator==(const Range &) const = default;
  bool overlaps(const Range &other) const {
    return buffer == other.buffer && begin < other.end && other.begin < end;
  }
  /// One element of n per chunk.
  Slice slice() const { return {begin, 0, end, 0, 1, buffer, kNoBlock, 0}; }
};

} // namespace colldsl::msccl
