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

} // namespace colldsl
