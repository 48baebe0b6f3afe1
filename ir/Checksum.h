/// XXH64, the checksum of images.
/// source: Y. Collet, xxHash, https://github.com/Cyan4973/xxHash (doc/xxhash_spec.md)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace colldsl {

uint64_t xxh64(std::span<const std::byte> bytes, uint64_t seed);

/// The same of bytes that come piece by piece.
class Xxh64 {
public:
  explicit Xxh64(uint64_t seed);
  void update(std::span<const std::byte> bytes);
  /// Of all bytes so far.
  uint64_t digest() const;

private:
  static constexpr size_t kStripe = 32;

  void addStripes(const std::byte *at, size_t count);

  uint64_t seed_;
  uint64_t lanes_[4];
  uint64_t size_ = 0;
  std::byte rest_[kStripe]; ///< the size_ % kStripe newest bytes
};

} // namespace colldsl
