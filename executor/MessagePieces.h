/// The memory of a message to or from one peer, in pieces: the ends of exchanges.
#pragma once

#include "ir/Ids.h"
#include "transports/Pieces.h"

#include <algorithm>
#include <span>

namespace colldsl {

/// Appends to the pieces of the end for this peer, which is made if there is none.
template <typename End>
void addPieces(std::vector<End> &ends, Rank peer, std::span<const iovec> pieces) {
  auto at = std::find_if(ends.begin(), ends.end(), [&](const End &e) { return e.peer == peer; });
  if (at == ends.end()) {
    at = ends.emplace(ends.end());
    at->peer = peer;
  }
  for (const iovec &piece : pieces)
    appendPiece(at->pieces, piece);
}

/// Moves the pieces by so many bytes, except addresses for which stays(address) is true.
template <typename End, typename Stays>
void movePieces(std::vector<End> &ends, ptrdiff_t distance, Stays stays) {
  for (End &end : ends)
    for (iovec &piece : end.pieces)
      if (!stays(piece.iov_base))
        piece.iov_base = static_cast<std::byte *>(piece.iov_base) + distance;
}

} // namespace colldsl
