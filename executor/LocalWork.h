/// The work of copies and combines.
#pragma once

#include "executor/Steps.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace colldsl {

inline void combine(const Step &step, const Combiner &combiner, const LocalPiece &piece) {
  const std::byte *first = piece.first ? piece.first : piece.target;
  if (step.reduce)
    step.reduce(piece.target, first, piece.source, piece.bytes);
  else
    combiner.apply(piece.target, first, piece.source, piece.bytes, step.side, combiner.context);
}

/// Rounds down to whole elements, but to at least one.
inline uint64_t wholeElements(const Combiner &combiner, uint64_t bytes) {
  return std::max<uint64_t>(bytes / combiner.elementBytes, 1) * combiner.elementBytes;
}

/// Moves bytes without a call if their length is that of a number or two.
inline void moveShort(std::byte *to, const std::byte *from, uint64_t bytes) {
  auto moveFixed = [&](auto words) {
    std::memcpy(&words, from, sizeof words);
    std::memcpy(to, &words, sizeof words);
  };
  switch (bytes) {
  case 4:
    return moveFixed(uint32_t{});
  case 8:
    return moveFixed(uint64_t{});
  case 16:
    return moveFixed(std::array<uint64_t, 2>{});
  default:
    std::memmove(to, from, bytes);
  }
}

inline void run(const Step &step, const Combiner &combiner) {
  for (uint32_t i = 0; i < step.pieceCount; ++i) {
    const LocalPiece &piece = step.pieces[i];
    if (step.kind == Step::Kind::Copy)
      moveShort(piece.target, piece.source, piece.bytes);
    else
      combine(step, combiner, piece);
  }
}

/// The progress of a copy or combine that is done in parts.
class LocalPart {
public:
  bool begins() const { return piece_ == 0 && done_ == 0; }

  /// Processes about so many bytes. True: nothing is left.
  bool run(const Step &step, const Combiner &combiner, uint64_t bytes) {
    if (combiner && step.kind == Step::Kind::Combine)
      bytes = wholeElements(combiner, bytes);
    for (uint64_t room = bytes; room > 0 && piece_ < step.pieceCount;) {
      const LocalPiece &whole = step.pieces[piece_];
      uint64_t here = overlaps(whole) ? whole.bytes : std::min(bytes, whole.bytes - done_);
      LocalPiece part{whole.target + done_, whole.source + done_, here,
                      whole.first ? whole.first + done_ : nullptr};
      if (step.kind == Step::Kind::Copy)
        std::memmove(part.target, part.source, here);
      else
        combine(step, combiner, part);
      done_ += here;
      room -= std::min(room, here);
      if (done_ == whole.bytes)
        ++piece_, done_ = 0;
    }
    return piece_ == step.pieceCount;
  }

private:
  // memmove() moves overlapping bytes in an order of its own.
  static bool overlaps(const LocalPiece &piece) {
    return piece.source < piece.target + piece.bytes && piece.target < piece.source + piece.bytes;
  }

  uint32_t piece_ = 0;
  uint64_t done_ = 0; ///< bytes of the piece
};

} // namespace colldsl
