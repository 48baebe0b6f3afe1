/// XXH64, the checksum of images.
/// source: Y. Collet, xxHash, https://github.com/Cyan4973/xxHash (doc/xxhash_spec.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace colldsl {

uint64_t xxh64(std::span<const std::byte> bytes, uint64_t seed);

} // namespace colldsl
