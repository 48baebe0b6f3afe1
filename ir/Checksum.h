/// XXH64, the checksum of images, by xxHash. It is inlined, so that nothing depends on libxxhash at
/// run time. source: Y. Collet, xxHash, https://github.com/Cyan4973/xxHash (doc/xxhash_spec.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace colldsl {

inline uint64_t xxh64(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

/// Variant of xxh64() for bytes that come piece by piece.
class Xxh64 {
public:
  explicit Xxh64(uint64_t seed) { XXH64_reset(&state_, seed); }
  void update(std::span<const std::byte> bytes) {
    XXH64_update(&state_, bytes.data(), bytes.size());
  }
  /// The checksum of all bytes so far.
  uint64_t digest() const { return XXH64_digest(&state_); }

private:
  XXH64_state_t state_;
};

} // namespace colldsl
