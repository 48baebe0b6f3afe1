/// CRC-32C, Castagnoli's polynomial, as iSCSI uses it (RFC 3720, B.4), by ISA-L.
#pragma once

#include <cstddef>
#include <cstdint>
#include <isa-l/crc.h>
#include <span>

namespace colldsl::datagram {

/// The checksum of at most 2^31 - 1 bytes. `before`: that of the bytes in front of them. ISA-L
/// leaves the inversion before and after to its caller.
inline uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0) {
  auto *begin = reinterpret_cast<unsigned char *>(const_cast<std::byte *>(bytes.data()));
  return ~crc32_iscsi(begin, static_cast<int>(bytes.size()), ~before);
}

} // namespace colldsl::datagram
