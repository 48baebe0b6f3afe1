/// Copies between lists of memory pieces and flat memory.
#pragma once

#include "transports/Fault.h"
#include "transports/Payload.h"

#include <cstring>

namespace colldsl {

/// Bytes [offset, offset + bytes) of the payload, to flat memory.
void gather(std::byte *to, const Payload &from, uint64_t offset, uint64_t bytes);

/// Flat memory to bytes [offset, offset + bytes) of the payload.
void scatter(const Payload &to, uint64_t offset, const std::byte *from, uint64_t bytes);

/// The first `bytes` bytes of one payload to those of another in the same process.
void copyPieces(const Payload &to, const Payload &from, uint64_t bytes);

/// Copies without a call where the length is that of a number or two.
inline void copyShort(void *to, const void *from, uint64_t bytes) {
  switch (bytes) {
  case 0: // perhaps of no memory
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

/// gather() and scatter() of whole, short payloads.
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

/// Pieces without bytes are dropped; a piece right behind the last one lengthens it.
void appendPiece(std::vector<iovec> &pieces, const iovec &piece);

/// From its first piece to its last one, in memory.
iovec spanOf(const Payload &payload);
/// Whether a good part of that is its own.
bool isDense(const Payload &payload);

/// Whether a receive of `payload` accepts a message of this many bytes.
inline bool accepts(const Payload &payload, uint64_t bytes) {
  return payload.upTo ? bytes <= payload.bytes : bytes == payload.bytes;
}

/// The message when it does not.
Fault sizeMismatch(Rank peer, OpId op, const Payload &payload, uint64_t bytes);

/// The message when the peer needs nothing more for the run, and its end had none.
Fault endedWithout(Rank peer, OpId op, const Payload &payload);

} // namespace colldsl
