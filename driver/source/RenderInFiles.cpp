#include "driver/source/RenderInFiles.h"

#include "compiler/Excerpt.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace colldsl::driver {
namespace {

std::string lineIn(llvm::StringRef rest, uint32_t line) {
  for (uint32_t i = 1; i < line; ++i)
    rest = rest.split('\n').second;
  return rest.split('\n').first.rtrim('\r').str();
}

/// A line of the file; empty if the file has fewer lines or, like a stream, cannot be read again.
std::string readLine(const std::string &file, uint32_t line, InputOf inputOf) {
  if (const llvm::MemoryBuffer *input = inputOf(file))
    return lineIn(input->getBuffer(), line);
  if (!llvm::sys::fs::is_regular_file(file))
    return "";
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  return buffer ? lineIn((*buffer)->getBuffer(), line) : "";
}

void renderAtPlace(const Diagnostic &d, const std::string &file, InputOf inputOf,
                   llvm::raw_ostream &out) {
  const llvm::SourceMgr none;
  std::string line = readLine(file, d.loc.line, inputOf);
  if (d.loc.column == 0 || d.loc.column > line.size() + 1) { // the file has changed since
    std::string place =
        file + ":" + std::to_string(d.loc.line) + ":" + std::to_string(d.loc.column);
    llvm::SMDiagnostic(place, diagKindOf(d.severity), d.message)
        .print(nullptr, out, /*ShowColors=*/false);
    return;
  }
  int lineNumber = static_cast<int>(d.loc.line), column = d.loc.column - 1;
  printWithLine(out,
                {none, {}, file, lineNumber, column, diagKindOf(d.severity), d.message, line, {}});
}

void renderOne(const Diagnostic &d, const std::vector<std::string> &files, InputOf inputOf,
               llvm::raw_ostream &out) {
  if (d.loc.known() && d.loc.file < files.size())
    renderAtPlace(d, files[d.loc.file], inputOf, out);
  else
    llvm::SMDiagnostic("", diagKindOf(d.severity), d.message)
        .print(nullptr, out, /*ShowColors=*/false);
  if (!d.hint.empty())
    out << "  hint: " << d.hint << "\n";
  for (const Diagnostic &note : d.notes)
    renderOne(note, files, inputOf, out);
}

} // namespace

std::string renderInFiles(const Diagnostic &diagnostic, const std::vector<std::string> &files,
                          InputOf inputOf) {
  std::string text;
  llvm::raw_string_ostream out(text);
  renderOne(diagnostic, files, inputOf, out);
  return text;
}

std::string placeWord(const SourceLoc &loc, const std::vector<std::string> &files) {
  if (!loc.known() || loc.file >= files.size())
    return "";
  return files[loc.file] + ":" + std::to_string(loc.line) + ":" + std::to_string(loc.column);
}

} // namespace colldsl::driver
