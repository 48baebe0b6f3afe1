/// Places in a text as the protocol counts them: lines, and code units within a line.
#pragma once

#include "ir/Ids.h"

#include <string>
#include <string_view>
#include <vector>

namespace colldsl::lsp {

/// The unit of `character`: code units of UTF-16, unless the client offers UTF-8.
enum class Encoding : uint8_t { Utf16, Utf8 };

/// Counted from 0.
struct Position {
  uint32_t line = 0;
  uint32_t character = 0;
  bool operator==(const Position &) const = default;
};

/// Half-open: `end` is not part of it.
struct Range {
  Position start, end;
  bool operator==(const Range &) const = default;
};

/// The lines of a text, which outlives this object. The protocol ends lines by \n, \r\n and \r, the
/// compiler by \n alone. Offsets are bytes.
class Lines {
public:
  explicit Lines(std::string_view text);

  /// A position behind the end of its line maps to that end, one within a character to the
  /// character's beginning, a line behind the last one to the end of the text.
  size_t offsetOf(Position position, Encoding encoding) const;
  Position positionOf(size_t offset, Encoding encoding) const;
  Range rangeOf(size_t begin, size_t end, Encoding encoding) const {
    return {positionOf(begin, encoding), positionOf(end, encoding)};
  }

  /// As the offsetOf() above, for lines and columns of the compiler.
  size_t offsetOf(SourceLoc loc) const;
  SourceLoc locOf(size_t offset, uint16_t file) const;

  std::string_view text() const { return text_; }

private:
  std::string_view lineAt(size_t begin) const;

  std::string_view text_;
  std::vector<size_t> begins_;         ///< of the protocol's lines
  std::vector<size_t> compilerBegins_; ///< of the compiler's
};

/// The text with a range replaced. The ends may be in either order.
std::string replaced(const std::string &text, Range range, std::string_view by, Encoding encoding);

} // namespace colldsl::lsp
