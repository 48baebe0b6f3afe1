/// Copies between lists of memory pieces and flat memory.
#pragma once

#include "transports/Transport.h"

namespace colldsl {

/// Bytes [offset, offset + bytes) of the payload, to flat memory.
void gather(std::byte *to, const Payload &from, uint64_t offset, uint64_t bytes);

/// Flat memory to bytes [offset, offset + bytes) of the payload.
void scatter(const Payload &to, uint64_t offset, const std::byte *from, uint64_t bytes);

/// The first `bytes` bytes of one payload to those of another in the same process.
void copyPieces(const Payload &to, const Payload &from, uint64_t bytes);

/// Whether a receive of `payload` accepts a message of this many bytes.
inline bool accepts(const Payload &payload, uint64_t bytes) {
  return payload.upTo ? bytes <= payload.bytes : bytes == payload.bytes;
}

/// What to say when it does not.
std::string sizeMismatch(const Payload &payload, uint64_t bytes);

} // namespace colldsl
