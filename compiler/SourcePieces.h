/// Source text as the formatter sees it: the scanner's tokens, and the comments between them.
#pragma once

#include "compiler/Scanner.h"

namespace colldsl {

enum class PieceKind : uint8_t { Word, Number, String, Sign, LineComment, BlockComment };

struct Piece {
  PieceKind kind = PieceKind::Word;
  std::string_view text;     ///< without blanks at its end
  unsigned linesBefore = 0;  ///< line ends between the one before and this one
  unsigned blanksBefore = 0; ///< behind the last of these

  bool isComment() const {
    return kind == PieceKind::LineComment || kind == PieceKind::BlockComment;
  }
  bool is(std::string_view sign) const {
    return (kind == PieceKind::Sign || kind == PieceKind::Word) && text == sign;
  }
};

/// In the order of the text; errors are those of scan().
Result<std::vector<Piece>> piecesOf(std::string_view text, uint16_t file,
                                    const ParseLimits &limits);

} // namespace colldsl
