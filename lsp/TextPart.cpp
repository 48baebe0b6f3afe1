#include "lsp/TextPart.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace colldsl::lsp {

bool isWordSign(char c) { return llvm::isAlnum(c) || c == '_'; }

size_t endOfString(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n')
    end += text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n' ? 2 : 1;
  return std::min(end, text.size());
}

TextPart textPartAt(std::string_view text, size_t offset) {
  using Kind = TextPart::Kind;
  for (size_t at = 0; at < std::min(offset, text.size());) {
    size_t begin = at;
    std::string_view sign = text.substr(at, 2);
    if (sign == "//") {
      at = std::min(text.find('\n', at), text.size());
      if (offset <= at)
        return {Kind::Comment, begin};
    } else if (sign == "/*") {
      size_t close = text.find("*/", at + 2);
      if (close == std::string_view::npos || offset < close + 2)
        return {Kind::Comment, begin};
      at = close + 2;
    } else if (sign.front() == '"') {
      size_t end = endOfString(text, at);
      if (offset <= end)
        return {Kind::String, begin};
      at = end + 1;
    } else {
      ++at;
    }
  }
  return {Kind::Code, offset};
}

size_t endOfCodeBefore(std::string_view text, size_t offset) {
  constexpr std::string_view kBlanks = " \t\r\n\f";
  while (offset > 0) {
    TextPart part = textPartAt(text, offset - 1);
    if (part.kind == TextPart::Kind::Comment)
      offset = part.begin;
    else if (kBlanks.find(text[offset - 1]) != kBlanks.npos)
      --offset;
    else
      break;
  }
  return offset;
}

} // namespace colldsl::lsp
