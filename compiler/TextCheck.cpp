#include "compiler/TextCheck.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace colldsl {
namespace {

using llvm::formatv;

bool isAscii(unsigned char c) { return c < 0x80; }
bool isControl(unsigned char c) {
  bool isSpace = c == '\t' || c == '\n' || c == '\r' || c == '\f';
  return (c < 0x20 && !isSpace) || c == 0x7f;
}

/// Empty if a character that may stand in a text begins at i.
std::string faultAt(std::string_view text, size_t i) {
  auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
  if (bytes[i] == 0)
    return "NUL byte in the text";
  if (isControl(bytes[i]))
    return formatv("control character 0x{0:x-2} in the text", unsigned{bytes[i]});
  if (isAscii(bytes[i]))
    return "";
  if (i == 0 && text.starts_with("\xEF\xBB\xBF"))
    return "the file begins with a byte order mark; save it without one";
  if (llvm::isLegalUTF8Sequence(bytes + i, bytes + text.size()))
    return "";
  return formatv("byte 0x{0:x-2} does not begin a UTF-8 character", unsigned{bytes[i]});
}

} // namespace

Status checkText(std::string_view text, uint16_t file, const ParseLimits &limits) {
  if (text.size() > limits.maxBytes)
    return Status::error({1, 1, file},
                         formatv("the file has {0} bytes, the limit is {1} (maxBytes)", text.size(),
                                 limits.maxBytes));
  uint32_t maxLineBytes = std::min<uint32_t>(limits.maxLineBytes, UINT16_MAX);
  SourceLoc line = {1, 1, file};
  size_t lineStart = 0;
  for (size_t i = 0; i < text.size(); i += llvm::getNumBytesForUTF8(text[i])) {
    if (text[i] == '\n') {
      ++line.line;
      lineStart = i + 1;
    } else if (i - lineStart >= maxLineBytes) {
      return Status::error(line, formatv("this line has more than {0} bytes, the limit "
                                         "(maxLineBytes)",
                                         maxLineBytes));
    }
    if (std::string fault = faultAt(text, i); !fault.empty()) {
      line.column = static_cast<uint16_t>(i - lineStart + 1);
      return Status::error(line, std::move(fault));
    }
  }
  return {};
}

} // namespace colldsl
