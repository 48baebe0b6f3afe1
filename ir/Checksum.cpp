// XXH64: four lanes of 8 bytes run side by side, then fold into one word, to which
// the rest of the bytes is added one by one.

#include "ir/Checksum.h"

#include <algorithm>
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

Xxh64::Xxh64(uint64_t seed)
    : seed_(seed), lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1} {}

void Xxh64::addStripes(const std::byte *at, size_t count) {
  uint64_t lanes[4] = {lanes_[0], lanes_[1], lanes_[2], lanes_[3]};
  for (const std::byte *end = at + count * kStripe; at != end; at += kStripe)
    for (int i = 0; i < 4; ++i)
      lanes[i] = mix(lanes[i], readAt<uint64_t>(at + 8 * i));
  std::copy_n(lanes, 4, lanes_);
}

void Xxh64::update(std::span<const std::byte> bytes) {
  size_t filled = size_ % kStripe;
  size_ += bytes.size();
  if (filled != 0) {
    auto more = bytes.first(std::min(bytes.size(), kStripe - filled));
    std::copy(more.begin(), more.end(), rest_ + filled);
    if (filled + more.size() < kStripe)
      return;
    addStripes(rest_, 1);
    bytes = bytes.subspan(more.size());
  }
  addStripes(bytes.data(), bytes.size() / kStripe);
  auto rest = bytes.last(bytes.size() % kStripe);
  std::copy(rest.begin(), rest.end(), rest_);
}

uint64_t Xxh64::digest() const {
  uint64_t hash = seed_ + kPrime5;
  if (size_ >= kStripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (uint64_t lane : lanes_)
      hash = fold(hash, lane);
  }
  return avalanche(hashTail(std::span(rest_).first(size_ % kStripe), hash + size_));
}

uint64_t xxh64(std::span<const std::byte> bytes, uint64_t seed) {
  Xxh64 hash(seed);
  hash.update(bytes);
  return hash.digest();
}

} // namespace colldsl
