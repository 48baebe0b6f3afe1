#include "tools/input/FileKind.h"

#include "llvm/ADT/StringExtras.h"

namespace colldsl::tools {
namespace {

constexpr llvm::StringRef kImageMagic("colldsl\0", 8);
constexpr llvm::StringRef kLibraryMagic("colllib\0", 8);

llvm::StringRef skipBlanksAndComments(llvm::StringRef text) {
  for (;;) {
    text = text.ltrim();
    if (text.starts_with("//"))
      text = text.split('\n').second;
    else if (text.starts_with("/*"))
      text = text.drop_front(2).split("*/").second;
    else
      return text;
  }
}

} // namespace

FileKind fileKind(llvm::StringRef content) {
  if (content.starts_with(kImageMagic))
    return FileKind::Image;
  if (content.starts_with(kLibraryMagic))
    return FileKind::Library;
  llvm::StringRef text = skipBlanksAndComments(content);
  llvm::StringRef word = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  for (llvm::StringRef first : {"schedule", "num_ranks", "size", "file", "rank"})
    if (word == first)
      return FileKind::Text;
  return FileKind::Source;
}

} // namespace colldsl::tools
