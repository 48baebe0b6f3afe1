/// Code, strings and comments of a text, in which the last ones may be open.
#pragma once

#include <cstdint>
#include <string_view>

namespace colldsl::lsp {

struct TextPart {
  enum class Kind : uint8_t { Code, String, Comment };
  Kind kind = Kind::Code;
  size_t begin = 0; ///< of the string or the comment
};

/// True for the signs of names, keywords and numbers.
bool isWordSign(char c);

/// The offset of the quote that closes the string which begins there; the end of its line if it is
/// open.
size_t endOfString(std::string_view text, size_t begin);

/// The part to which an insertion at the offset would belong. A string ends with its line at the
/// latest, an open comment with the text.
TextPart textPartAt(std::string_view text, size_t offset);

/// The end of the last code or string before the offset; blanks and comments are skipped.
size_t endOfCodeBefore(std::string_view text, size_t offset);

} // namespace colldsl::lsp
