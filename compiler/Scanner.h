/// From text to tokens, in linear time and without recursion.
#pragma once

#include "compiler/ParseLimits.h"
#include "ir/Result.h"

#include <string_view>
#include <vector>

namespace colldsl {

enum class TokenKind : uint8_t {
  Word,        ///< keyword or identifier
  Number,      ///< begins with a digit: 64KiB
  String,      ///< with its quotes
  Punctuation, ///< "..=", or another language's "&&"
};

struct Token {
  TokenKind kind = TokenKind::Word;
  SourceLoc loc;
  std::string_view text; ///< part of what was scanned
};

/// The tokens without the comments, or why there are none: a fault of the text, a
/// comment or string without end, a broken limit.
Result<std::vector<Token>> scan(std::string_view text, uint16_t file, const ParseLimits &limits);

} // namespace colldsl
