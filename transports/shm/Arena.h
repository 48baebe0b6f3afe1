/// Hands out blocks of one rank's part of the mapping. First fit over a list of free
/// blocks, neighbours merged; the bookkeeping is private to the rank. Not thread
/// safe.
#pragma once

#include <cstdint>
#include <map>

namespace colldsl::shm {

class Arena {
public:
  static constexpr uint64_t kNoRoom = UINT64_MAX;

  /// Hands out offsets [begin, begin + bytes) of the mapping; begin is a multiple of 64.
  Arena(uint64_t begin, uint64_t bytes) { free_[begin] = bytes; }

  /// Offset of a block, 64-byte aligned, or kNoRoom. Its content is undefined. If this throws, the
  /// arena is as before.
  uint64_t allocate(uint64_t bytes);
  /// Frees a block and returns the number of bytes that it had. Allocates nothing.
  uint64_t release(uint64_t offset);

  uint64_t bytesInUse() const;

private:
  std::map<uint64_t, uint64_t> free_; // offset -> bytes
  std::map<uint64_t, uint64_t> used_;
};

} // namespace colldsl::shm
