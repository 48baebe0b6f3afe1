/// The brackets, statements and scopes of a text, from its tokens alone.
#pragma once

#include "compiler/Scanner.h"

#include <optional>
#include <string_view>
#include <vector>

namespace colldsl::lsp {

/// Offsets are bytes. A text that cannot be split into tokens, such as one with an open comment,
/// has no structure.
class Structure {
public:
  /// The text outlives this object.
  explicit Structure(std::string_view text);

  struct Piece {
    size_t begin = 0, end = 0;
  };

  /// The scope of the local name that is declared at an offset: from there to the end of the
  /// innermost brackets around it, or, for the variable of a `for` with a block, of that block.
  Piece scopeOf(size_t name) const;
  /// The declaration around an offset, from its first word to its last sign.
  Piece declAround(size_t offset) const;
  /// The part around an offset, between commas, semicolons and brackets.
  Piece partAround(size_t offset) const;

  /// An argument of a call, as far as it is written.
  struct Argument {
    std::string_view first; ///< its first word or sign; empty: there is none yet
    bool isNamed = false;   ///< `first = ...`
  };
  /// A name with parentheses that are open at an offset.
  struct Call {
    std::string_view callee;
    bool isMember = false;           ///< `t.callee(`
    std::vector<Argument> arguments; ///< up to the one at the offset
  };
  /// The calls in which the offset is, the innermost one first. Words of the language before
  /// parentheses look like calls, too: `not (`, `send x to (`.
  std::vector<Call> callsAround(size_t offset) const;

  /// The clause of a collective whose keyword is at an offset: `where`, `ensures`, or `aliases`
  /// with the name before it. Nothing: there is none.
  std::optional<Piece> clauseAt(size_t keyword) const;
  /// The number of brackets that are open at an offset.
  size_t depthAt(size_t offset) const;

private:
  size_t beginOf(size_t token) const;
  size_t endOf(size_t token) const { return beginOf(token) + tokens_[token].text.size(); }
  std::string_view sign(size_t token) const { return tokens_[token].text; }
  size_t tokenAt(size_t offset) const;
  size_t tokenBefore(size_t offset) const;
  size_t closerAround(size_t token) const;
  size_t invariantEnd(size_t token) const;
  size_t declBegin(size_t token) const;
  size_t declEnd(size_t token) const;
  bool beginsClause(size_t token) const;
  std::optional<Call> callOf(size_t opener, size_t last) const;
  std::vector<Argument> argumentsOf(size_t opener, size_t last) const;

  std::string_view text_;
  std::vector<Token> tokens_;
  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> partner_;   ///< per bracket, its counterpart; kNone
  std::vector<size_t> enclosing_; ///< the innermost bracket that is open before the token; kNone
};

} // namespace colldsl::lsp
