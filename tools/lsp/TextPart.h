/// Code, strings and comments of a text, also of one that does not end them.
#pragma once

#include <cstdint>
#include <string_view>

namespace colldsl::lsp {

struct TextPart {
  enum class Kind : uint8_t { Code, String, Comment };
  Kind kind = Kind::Code;
  size_t begin = 0; ///< of the string or the comment
};

/// The part that an insertion at the offset would belong to. A string ends with its line, a comment
/// that nothing closes with the text.
TextPart textPartAt(std::string_view text, size_t offset);

/// The end of what stands before the offset, blanks and comments aside.
size_t endOfCodeBefore(std::string_view text, size_t offset);

} // namespace colldsl::lsp
