#include "transports/datagram/Crc32c.h"

#include <array>
#include <cstring>

namespace colldsl::datagram {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78; // reflected

constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? kPolynomial : 0);
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = makeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t byInstruction(std::span<const std::byte> bytes,
                                                         uint32_t before) {
  uint64_t crc = ~before;
  const std::byte *at = bytes.data(), *end = at + bytes.size();
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto rest = static_cast<uint32_t>(crc);
  if (end - at >= 4) {
    uint32_t half;
    std::memcpy(&half, at, sizeof half);
    rest = __builtin_ia32_crc32si(rest, half);
    at += 4;
  }
  for (; at < end; ++at)
    rest = __builtin_ia32_crc32qi(rest, static_cast<uint8_t>(*at));
  return ~rest;
}

const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
#endif

} // namespace

uint32_t crc32cByTable(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (std::byte b : bytes)
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(b)) & 0xff];
  return ~crc;
}

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
#if defined(__x86_64__)
  if (kHasInstruction)
    return byInstruction(bytes, before);
#endif
  return crc32cByTable(bytes, before);
}

} // namespace colldsl::datagram
