/// The brackets, statements and scopes of a text, from its tokens alone.
#pragma once

#include "compiler/Scanner.h"

#include <optional>
#include <string_view>
#include <vector>

namespace colldsl::lsp {

/// Offsets are bytes. A text without tokens, such as one with an open comment, has none of them.
class Structure {
public:
  /// The text outlives this object.
  explicit Structure(std::string_view text);

  struct Piece {
    size_t begin = 0, end = 0;
  };

  /// Where the local name that is declared at an offset is in scope: from there to the end of the
  /// innermost brackets around it; that of a `for` with a block to the end of the block.
  Piece scopeOf(size_t name) const;
  /// The declaration that has a name at an offset, from its first word to its last sign.
  Piece declAround(size_t name) const;
  /// What is between commas, semicolons and brackets, around an offset.
  Piece partAround(size_t offset) const;

  /// Of the call in whose parentheses the offset is: the name before them.
  std::optional<std::string_view> calleeAt(size_t offset) const;
  /// How many brackets are open there.
  size_t depthAt(size_t offset) const;

private:
  size_t beginOf(size_t token) const;
  size_t endOf(size_t token) const { return beginOf(token) + tokens_[token].text.size(); }
  std::string_view sign(size_t token) const { return tokens_[token].text; }
  size_t tokenAt(size_t offset) const;
  size_t tokenBefore(size_t offset) const;
  size_t closerAround(size_t token) const;
  size_t declEnd(size_t token) const;

  std::string_view text_;
  std::vector<Token> tokens_;
  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> partner_;   ///< of brackets, the other one; kNone
  std::vector<size_t> enclosing_; ///< the innermost bracket that is open before the token; kNone
};

} // namespace colldsl::lsp
