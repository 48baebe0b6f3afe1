#include "lsp/Positions.h"

#include <algorithm>

namespace colldsl::lsp {
namespace {

/// The number of bytes of the character at an offset; 1 for a byte that begins no character.
size_t bytesOfCharacter(std::string_view text, size_t at) {
  auto lead = static_cast<unsigned char>(text[at]);
  size_t count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  size_t bytes = 1;
  while (bytes < count && at + bytes < text.size() &&
         (static_cast<unsigned char>(text[at + bytes]) & 0xc0) == 0x80)
    ++bytes;
  return bytes;
}

/// The code units of a character with so many bytes in UTF-8. Characters outside the basic plane
/// have 4 bytes, and two units in UTF-16.
uint32_t unitsOf(size_t bytes, Encoding encoding) {
  return encoding == Encoding::Utf8 ? static_cast<uint32_t>(bytes) : bytes == 4 ? 2 : 1;
}

} // namespace

Lines::Lines(std::string_view text) : text_(text), begins_{0}, compilerBegins_{0} {
  for (size_t i = 0; i < text.size(); ++i) {
    bool isFeed = text[i] == '\n';
    bool isReturn = text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if (isFeed || isReturn)
      begins_.push_back(i + 1);
    if (isFeed)
      compilerBegins_.push_back(i + 1);
  }
}

/// The line that begins at an offset, without its end.
std::string_view Lines::lineAt(size_t begin) const {
  size_t end = std::min(text_.find_first_of("\r\n", begin), text_.size());
  return text_.substr(begin, end - begin);
}

size_t Lines::offsetOf(Position position, Encoding encoding) const {
  if (position.line >= begins_.size())
    return text_.size();
  std::string_view line = lineAt(begins_[position.line]);
  size_t at = 0;
  for (uint64_t units = 0; at < line.size();) {
    size_t bytes = bytesOfCharacter(line, at);
    units += unitsOf(bytes, encoding);
    if (units > position.character)
      break;
    at += bytes;
  }
  return begins_[position.line] + at;
}

Position Lines::positionOf(size_t offset, Encoding encoding) const {
  offset = std::min(offset, text_.size());
  auto next = std::upper_bound(begins_.begin(), begins_.end(), offset);
  size_t begin = *(next - 1);
  Position position{static_cast<uint32_t>(next - begins_.begin() - 1), 0};
  std::string_view line = lineAt(begin);
  for (size_t at = 0; at < line.size() && begin + at < offset;) {
    size_t bytes = bytesOfCharacter(line, at);
    at += bytes;
    if (begin + at <= offset)
      position.character += unitsOf(bytes, encoding);
  }
  return position;
}

size_t Lines::offsetOf(SourceLoc loc) const {
  size_t line = loc.line > 0 ? loc.line - 1 : 0;
  if (line >= compilerBegins_.size())
    return text_.size();
  size_t begin = compilerBegins_[line];
  size_t end = std::min(text_.find('\n', begin), text_.size());
  return std::min(begin + (loc.column > 0 ? loc.column - 1 : 0), end);
}

SourceLoc Lines::locOf(size_t offset, uint16_t file) const {
  auto next = std::upper_bound(compilerBegins_.begin(), compilerBegins_.end(), offset);
  return {static_cast<uint32_t>(next - compilerBegins_.begin()),
          static_cast<uint16_t>(offset - *(next - 1) + 1), file};
}

std::string replaced(const std::string &text, Range range, std::string_view by, Encoding encoding) {
  Lines lines(text);
  size_t begin = lines.offsetOf(range.start, encoding), end = lines.offsetOf(range.end, encoding);
  if (end < begin)
    std::swap(begin, end);
  std::string result = text.substr(0, begin);
  result += by;
  result += text.substr(end);
  return result;
}

} // namespace colldsl::lsp
