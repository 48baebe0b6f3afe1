#include "compiler/Excerpt.h"

#include "ir/Printable.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <string>

namespace colldsl {
namespace {

constexpr size_t kMaxBytes = 100;
constexpr const char *kLeftOut = "...";

struct Excerpt {
  std::string text;
  size_t column = 0; ///< of the caret in it, from 0
};

/// The place, or the next one that is not inside a UTF-8 character.
size_t outsideCharacter(llvm::StringRef line, size_t place) {
  constexpr size_t kMaxInside = 3; // more such bytes are no UTF-8
  size_t last = std::min(line.size(), place + kMaxInside);
  while (place < last && (static_cast<unsigned char>(line[place]) & 0xc0) == 0x80)
    ++place;
  return place;
}

Excerpt excerptAround(llvm::StringRef line, size_t column) {
  if (line.size() <= kMaxBytes)
    return {printable(line), column};
  size_t middle = std::max(column, kMaxBytes / 2) - kMaxBytes / 2;
  size_t begin = outsideCharacter(line, std::min(middle, line.size() - kMaxBytes));
  size_t end = outsideCharacter(line, std::min(line.size(), begin + kMaxBytes));
  std::string before = begin > 0 ? kLeftOut : "", after = end < line.size() ? kLeftOut : "";
  return {before + printable(line.slice(begin, end)) + after, before.size() + column - begin};
}

} // namespace

llvm::SourceMgr::DiagKind diagKindOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return llvm::SourceMgr::DK_Error;
  case Severity::Warning:
    return llvm::SourceMgr::DK_Warning;
  case Severity::Note:
    return llvm::SourceMgr::DK_Note;
  }
  llvm_unreachable("no such severity");
}

void printWithLine(llvm::raw_ostream &out, const llvm::SMDiagnostic &d) {
  static const llvm::SourceMgr none;
  Excerpt excerpt = excerptAround(d.getLineContents(), static_cast<size_t>(d.getColumnNo()));
  out << d.getFilename() << ":" << d.getLineNo() << ":" << d.getColumnNo() + 1 << ": ";
  llvm::SMDiagnostic(none, {}, "", d.getLineNo(), static_cast<int>(excerpt.column), d.getKind(),
                     d.getMessage(), excerpt.text, {})
      .print(nullptr, out, /*ShowColors=*/false);
}

} // namespace colldsl
