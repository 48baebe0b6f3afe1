#include "lsp/Uri.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace colldsl::lsp {
namespace {

/// True for characters that a path has unescaped (RFC 3986: pchar and the slash).
bool isPlain(char c) {
  return llvm::isAlnum(c) || llvm::StringRef("-._~!$&'()*+,;=:@/").contains(c);
}

} // namespace

std::string pathOf(std::string_view uri) {
  llvm::StringRef rest(uri);
  if (!rest.consume_front("file://"))
    return std::string(uri);
  rest.consume_front("localhost");
  std::string path;
  for (size_t i = 0; i < rest.size(); ++i) {
    bool isEscape = rest[i] == '%' && i + 2 < rest.size() && llvm::isHexDigit(rest[i + 1]) &&
                    llvm::isHexDigit(rest[i + 2]);
    path += isEscape ? static_cast<char>(llvm::hexFromNibbles(rest[i + 1], rest[i + 2])) : rest[i];
    i += isEscape ? 2 : 0;
  }
  return path;
}

std::string uriOf(std::string_view path) {
  std::string uri = "file://";
  for (char c : path)
    if (isPlain(c))
      uri += c;
    else
      uri += "%" + llvm::toHex(llvm::StringRef(&c, 1));
  return uri;
}

} // namespace colldsl::lsp
