/// Copies between lists of memory pieces and flat memory.
#pragma once

#include "transports/Fault.h"
#include "transports/Payload.h"

#include <cstring>
#include <span>

namespace colldsl {

/// Copies bytes [offset, offset + bytes) of the payload to flat memory.
void gather(std::byte *to, const Payload &from, uint64_t offset, uint64_t bytes);

/// Copies flat memory to bytes [offset, offset + bytes) of the payload.
void scatter(const Payload &to, uint64_t offset, const std::byte *from, uint64_t bytes);

/// Copies the first `bytes` bytes of one payload to those of another in the same process.
void copyPieces(const Payload &to, const Payload &from, uint64_t bytes);

/// Copies bytes, without a call if the length is that of one or two numbers.
inline void copyShort(void *to, const void *from, uint64_t bytes) {
  switch (bytes) {
  case 0: // the addresses may be null
    return;
  case 4:
    std::memcpy(to, from, 4);
    return;
  case 8:
    std::memcpy(to, from, 8);
    return;
  case 16:
    std::memcpy(to, from, 16);
    return;
  default:
    std::memcpy(to, from, bytes);
  }
}

/// Variants of gather() and scatter() for whole, short payloads.
inline void gatherShort(std::byte *to, const Payload &from) {
  for (uint32_t i = 0; i < from.count; ++i) {
    copyShort(to, from.pieces[i].iov_base, from.pieces[i].iov_len);
    to += from.pieces[i].iov_len;
  }
}
inline void scatterShort(const Payload &to, const std::byte *from) {
  for (uint32_t i = 0; i < to.count; ++i) {
    copyShort(to.pieces[i].iov_base, from, to.pieces[i].iov_len);
    from += to.pieces[i].iov_len;
  }
}

/// The bytes of all pieces.
inline uint64_t bytesOf(std::span<const iovec> pieces) {
  uint64_t bytes = 0;
  for (const iovec &piece : pieces)
    bytes += piece.iov_len;
  return bytes;
}

/// Appends a piece. A piece without bytes is dropped; a piece right behind the last one lengthens
/// it.
void appendPiece(std::vector<iovec> &pieces, const iovec &piece);

/// The memory from the lowest address of the payload to its highest one.
iovec spanOf(const Payload &payload);
/// True if the payload is a good part of the memory that it spans.
bool isDense(const Payload &payload);

/// True if a receive of `payload` accepts a message of this many bytes.
inline bool accepts(const Payload &payload, uint64_t bytes) {
  return payload.upTo ? bytes <= payload.bytes : bytes == payload.bytes;
}

/// The fault of a receive that does not accept a message of this many bytes.
Fault sizeMismatch(Rank peer, OpId op, const Payload &payload, uint64_t bytes);

/// The fault of a receive whose peer needs nothing more for the run and sent it no bytes.
Fault endedWithout(Rank peer, OpId op, const Payload &payload);

} // namespace colldsl
