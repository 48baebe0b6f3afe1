#include "compiler/Sources.h"

#include "compiler/Excerpt.h"

#include "llvm/Support/raw_ostream.h"

#include <cassert>

namespace colldsl {
uint16_t Sources::add(std::unique_ptr<llvm::MemoryBuffer> text, std::string name) {
  assert(names_.size() < kMaxFiles && "too many files");
  manager_.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  names_.push_back(std::move(name));
  return static_cast<uint16_t>(names_.size() - 1);
}

std::string_view Sources::text(uint16_t file) const {
  return manager_.getMemoryBuffer(file + 1u)->getBuffer();
}

llvm::SMLoc Sources::find(SourceLoc loc) const {
  if (!loc.known() || loc.file >= names_.size())
    return {};
  return manager_.FindLocForLineAndColumn(loc.file + 1u, loc.line, loc.column);
}

std::string Sources::render(const Diagnostic &diagnostic) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::SMLoc place = find(diagnostic.loc);
  if (place.isValid())
    printWithLine(out,
                  manager_.GetMessage(place, diagKindOf(diagnostic.severity), diagnostic.message));
  else
    llvm::SMDiagnostic("", diagKindOf(diagnostic.severity), diagnostic.message)
        .print(nullptr, out, /*ShowColors=*/false);
  if (!diagnostic.hint.empty())
    out << "  hint: " << diagnostic.hint << '\n';
  for (const Diagnostic &note : diagnostic.notes)
    out << render(note);
  return text;
}

} // namespace colldsl
