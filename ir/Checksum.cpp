// XXH64: four lanes of 8 bytes run side by side, then fold into one word, to which
// the rest of the bytes is added one by one.

#include "ir/Checksum.h"

#include <bit>
#include <cstring>

namespace colldsl {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

static_assert(std::endian::native == std::endian::little);

template <typename T> T readAt(const std::byte *at) {
  T word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

uint64_t mix(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

uint64_t fold(uint64_t hash, uint64_t lane) { return (hash ^ mix(0, lane)) * kPrime1 + kPrime4; }

// Leaves `bytes` at what is shorter than one stripe of 32.
uint64_t hashStripes(std::span<const std::byte> &bytes, uint64_t seed) {
  uint64_t lanes[4] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  const std::byte *at = bytes.data();
  const std::byte *end = at + bytes.size() / 32 * 32;
  for (; at != end; at += 32)
    for (int i = 0; i < 4; ++i)
      lanes[i] = mix(lanes[i], readAt<uint64_t>(at + 8 * i));
  bytes = bytes.last(bytes.size() % 32);
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                  std::rotl(lanes[3], 18);
  for (uint64_t lane : lanes)
    hash = fold(hash, lane);
  return hash;
}

uint64_t hashTail(std::span<const std::byte> bytes, uint64_t hash) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    hash = std::rotl(hash ^ mix(0, readAt<uint64_t>(bytes.data())), 27) * kPrime1 + kPrime4;
  if (bytes.size() >= 4) {
    hash = std::rotl(hash ^ readAt<uint32_t>(bytes.data()) * kPrime1, 23) * kPrime2 + kPrime3;
    bytes = bytes.subspan(4);
  }
  for (std::byte b : bytes)
    hash = std::rotl(hash ^ static_cast<uint64_t>(b) * kPrime5, 11) * kPrime1;
  return hash;
}

uint64_t avalanche(uint64_t hash) {
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

} // namespace

uint64_t xxh64(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t size = bytes.size();
  uint64_t hash = size >= 32 ? hashStripes(bytes, seed) : seed + kPrime5;
  return avalanche(hashTail(bytes, hash + size));
}

} // namespace colldsl
