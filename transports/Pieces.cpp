#include "transports/Pieces.h"

#include <algorithm>
#include <cstring>

namespace colldsl {
namespace {

// Calls visit(address, bytes) for the parts of the payload within [offset, offset + bytes).
template <typename Visit>
void forRange(const Payload &payload, uint64_t offset, uint64_t bytes, Visit visit) {
  for (uint32_t i = 0; i < payload.count && bytes > 0; ++i) {
    const iovec &piece = payload.pieces[i];
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    uint64_t here = std::min<uint64_t>(bytes, piece.iov_len - offset);
    visit(static_cast<std::byte *>(piece.iov_base) + offset, here);
    bytes -= here;
    offset = 0;
  }
}

} // namespace

void gather(std::byte *to, const Payload &from, uint64_t offset, uint64_t bytes) {
  forRange(from, offset, bytes, [&](const std::byte *piece, uint64_t here) {
    std::memcpy(to, piece, here);
    to += here;
  });
}

void scatter(const Payload &to, uint64_t offset, const std::byte *from, uint64_t bytes) {
  forRange(to, offset, bytes, [&](std::byte *piece, uint64_t here) {
    std::memcpy(piece, from, here);
    from += here;
  });
}

void copyPieces(const Payload &to, const Payload &from, uint64_t bytes) {
  uint64_t offset = 0;
  forRange(from, 0, bytes, [&](const std::byte *piece, uint64_t here) {
    scatter(to, offset, piece, here);
    offset += here;
  });
}

void appendPiece(std::vector<iovec> &pieces, const iovec &piece) {
  if (piece.iov_len == 0)
    return;
  if (!pieces.empty()) {
    iovec &last = pieces.back();
    if (static_cast<std::byte *>(last.iov_base) + last.iov_len == piece.iov_base) {
      last.iov_len += piece.iov_len;
      return;
    }
  }
  pieces.push_back(piece);
}

iovec spanOf(const Payload &payload) {
  char *begin = nullptr, *end = nullptr;
  for (uint32_t i = 0; i < payload.count; ++i) {
    auto *first = static_cast<char *>(payload.pieces[i].iov_base);
    begin = i == 0 ? first : std::min(begin, first);
    end = std::max(end, first + payload.pieces[i].iov_len);
  }
  return {begin, static_cast<size_t>(end - begin)};
}

bool isDense(const Payload &payload) {
  constexpr uint64_t kMaxTimes = 4;
  return payload.count == 1 || spanOf(payload).iov_len / kMaxTimes <= payload.bytes;
}

Fault sizeMismatch(Rank peer, OpId op, const Payload &payload, uint64_t bytes) {
  return {peer, op,
          "a message of " + std::to_string(bytes) + " bytes arrived where " +
              (payload.upTo ? "at most " : "") + std::to_string(payload.bytes) + " were expected",
          ErrorKind::Truncated};
}

Fault endedWithout(Rank peer, OpId op, const Payload &payload) {
  return {peer, op,
          "a peer ended the run without a message of " + std::to_string(payload.bytes) + " bytes",
          ErrorKind::Truncated};
}

} // namespace colldsl
