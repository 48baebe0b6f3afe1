#include "compiler/TextCheck.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace colldsl {
namespace {

using llvm::formatv;

/// True for printable ASCII and tabs: nearly every byte, and none of them needs a further check.
bool isPlain(unsigned char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; }

/// The reason why no character of a text begins at i, where the byte is not plain; empty if one
/// does.
std::string faultAt(std::string_view text, size_t i) {
  auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
  if (bytes[i] == 0)
    return "NUL byte in the text";
  if (bytes[i] == '\f')
    return "";
  if (bytes[i] == '\r')
    return i + 1 == text.size()
               ? ""
               : "a carriage return without a line feed: a line ends with LF or with CR LF";
  if (bytes[i] < 0x80)
    return formatv("control character 0x{0:x-2} in the text", unsigned{bytes[i]});
  if (llvm::isLegalUTF8Sequence(bytes + i, bytes + text.size()))
    return "";
  return formatv("byte 0x{0:x-2} does not begin a UTF-8 character", unsigned{bytes[i]});
}

/// One line, without its end.
Status checkLine(std::string_view text, SourceLoc loc, uint32_t maxLineBytes) {
  if (text.size() > maxLineBytes)
    return Status::error(
        loc,
        formatv("this line has more than {0} bytes, the limit (--max-line-bytes)", maxLineBytes));
  for (size_t i = 0; i < text.size(); ++i) {
    if (isPlain(text[i]))
      continue;
    loc.column = static_cast<uint16_t>(i + 1);
    if (std::string fault = faultAt(text, i); !fault.empty())
      return Status::error(loc, std::move(fault));
    i += llvm::getNumBytesForUTF8(text[i]) - 1;
  }
  return {};
}

} // namespace

Status checkText(std::string_view text, uint16_t file, const ParseLimits &limits) {
  if (text.size() > limits.maxBytes)
    return Status::error({1, 1, file},
                         formatv("the file has {0} bytes, the limit is {1} (--max-source-bytes)",
                                 text.size(), limits.maxBytes));
  if (text.starts_with("\xEF\xBB\xBF"))
    return Status::error({1, 1, file},
                         "the file begins with a byte order mark; save it without one");
  uint32_t maxLineBytes = std::min(limits.maxLineBytes, kMaxLineBytes);
  SourceLoc loc = {1, 1, file};
  for (size_t begin = 0; begin < text.size(); ++loc.line) {
    size_t end = std::min(text.find('\n', begin), text.size());
    if (Status status = checkLine(text.substr(begin, end - begin), loc, maxLineBytes); !status)
      return status;
    begin = end + 1;
  }
  return {};
}

} // namespace colldsl
