#include "compiler/Sources.h"

#include "compiler/Excerpt.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

namespace colldsl {
namespace {

llvm::SourceMgr::DiagKind kindOf(Severity severity) {
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

llvm::StringRef wordFor(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("no such severity");
}

} // namespace

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
    printWithLine(out, manager_.GetMessage(place, kindOf(diagnostic.severity), diagnostic.message));
  else
    out << wordFor(diagnostic.severity) << ": " << diagnostic.message << '\n';
  if (!diagnostic.hint.empty())
    out << "  hint: " << diagnostic.hint << '\n';
  for (const Diagnostic &note : diagnostic.notes)
    out << render(note);
  return text;
}

} // namespace colldsl
