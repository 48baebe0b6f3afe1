/// CRC-32C, Castagnoli's polynomial, as iSCSI uses it (RFC 3720, B.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace colldsl::datagram {

/// With the processor's instruction, where there is one. `before`: of what is in front of these
/// bytes.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

/// The same by a table, anywhere.
uint32_t crc32cByTable(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace colldsl::datagram
