#include "compiler/FileLoader.h"

#include "compiler/Parser.h"
#include "compiler/StdlibTrees.h"
#include "ir/ForeignFormat.h"
#include "stdlib/StdlibFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

namespace colldsl {
namespace {

namespace fs = llvm::sys::fs;
using llvm::formatv;
using llvm::StringRef;

/// The real path, which is common to all names of a file.
std::string realPathOf(const std::string &path) {
  llvm::SmallString<256> real;
  return fs::real_path(path, real) ? path : real.str().str();
}

std::string joined(StringRef folder, StringRef path) {
  if (folder.empty() || llvm::sys::path::is_absolute(path))
    return path.str();
  llvm::SmallString<256> whole(folder);
  llvm::sys::path::append(whole, path);
  return whole.str().str();
}

std::vector<std::string> foldersFor(StringRef path, StringRef importer,
                                    const std::vector<std::string> &includePaths) {
  if (llvm::sys::path::is_absolute(path))
    return {""};
  std::vector<std::string> folders = {llvm::sys::path::parent_path(importer).str()};
  llvm::append_range(folders, includePaths);
  return folders;
}

} // namespace

std::string findImport(StringRef path, StringRef importer,
                       const std::vector<std::string> &includePaths) {
  for (const std::string &folder : foldersFor(path, importer, includePaths))
    if (std::string candidate = joined(folder, path); fs::exists(candidate))
      return candidate;
  return "";
}

void FileLoader::loadMain(const std::string &path) {
  if (!full() && !states_.contains(realPathOf(path)))
    load(read(path), realPathOf(path), /*isMain=*/true);
}

void FileLoader::loadMain(std::unique_ptr<llvm::MemoryBuffer> file) {
  std::string realPath = realPathOf(file->getBufferIdentifier().str());
  if (!full() && !states_.contains(realPath))
    load(add(std::move(file)), realPath, /*isMain=*/true);
}

void FileLoader::loadStdlib() {
  for (const StdlibFile &file : stdlibFiles()) {
    std::string name(file.name);
    uint16_t i = sources_.add(llvm::MemoryBuffer::getMemBuffer(file.text, name, false), name);
    keep(stdlibTree(i), /*isMain=*/false);
  }
}

void FileLoader::keep(std::shared_ptr<const Ast> ast, bool isMain) {
  std::vector<const ast::Decl *> decls = ast->decls.vec();
  files_.push_back({std::move(ast), std::move(decls), isMain});
}

/// Recursion over imports ends at maxFiles.
void FileLoader::load(Result<uint16_t> file, StringRef realPath, bool isMain) {
  if (!file) {
    errors_.push_back(file.status().diagnostic());
    return;
  }
  ParseResult parsed = parseFile(sources_.text(*file), *file, limits_);
  llvm::move(parsed.errors, std::back_inserter(errors_));
  states_[realPath] = State::Busy;
  importers_.push_back({realPath.str(), {}});
  if (parsed.ast) {
    for (const ast::Import &import : parsed.ast->imports)
      follow(import, *file);
    keep(std::move(parsed.ast), isMain);
  }
  importers_.pop_back();
  states_[realPath] = State::Done;
}

void FileLoader::follow(const ast::Import &import, uint16_t importer) {
  std::string path = findImport(import.path, sources_.name(importer), options_.includePaths);
  if (full())
    return;
  if (path.empty())
    return reportMissing(import, importer);
  std::string realPath = realPathOf(path);
  auto known = states_.find(realPath);
  importers_.back().import = import.loc;
  if (known == states_.end())
    load(read(path), realPath, /*isMain=*/false);
  else if (known->second == State::Busy)
    reportCycle(realPath, import.loc);
}

Status FileLoader::refuse(StringRef path, const std::string &why) const {
  SourceLoc loc = importers_.empty() ? SourceLoc() : importers_.back().import;
  return Status::error(loc, "cannot read '" + path.str() + "': " + why);
}

Status FileLoader::checkSize(uint64_t bytes, StringRef path) const {
  if (bytes <= limits_.maxBytes)
    return {};
  return refuse(path, formatv("it has {0} bytes, the limit is {1} (--max-source-bytes)", bytes,
                              limits_.maxBytes));
}

Result<uint16_t> FileLoader::add(std::unique_ptr<llvm::MemoryBuffer> file) {
  std::string path = file->getBufferIdentifier().str();
  if (states_.size() >= limits_.maxFiles || sources_.size() >= Sources::kMaxFiles)
    return refuse(path, formatv("more than {0} files, the limit (--max-files)", limits_.maxFiles));
  if (Status s = checkSize(file->getBufferSize(), path); !s)
    return s;
  return sources_.add(std::move(file), std::move(path));
}

Result<uint16_t> FileLoader::read(const std::string &path) {
  if (auto open = options_.openTexts.find(realPathOf(path)); open != options_.openTexts.end())
    return add(llvm::MemoryBuffer::getMemBufferCopy(open->second, path));
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return refuse(path, error.message());
  if (!fs::is_regular_file(status))
    return refuse(path, "it is not an ordinary file");
  if (Status s = checkSize(status.getSize(), path); !s)
    return s;
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!text)
    return refuse(path, text.getError().message());
  if (std::string format = foreignFormat(std::string_view((*text)->getBuffer()), Readable::Text);
      !format.empty())
    return refuse(path, "it is " + format);
  return add(std::move(*text));
}

void FileLoader::reportMissing(const ast::Import &import, uint16_t importer) {
  std::vector<std::string> folders =
      foldersFor(import.path, sources_.name(importer), options_.includePaths);
  for (std::string &folder : folders)
    folder = folder.empty() ? "the current folder" : "'" + folder + "'";
  errors_.push_back(Diagnostic::error(import.loc,
                                      "'" + sources_.name(importer) + "' imports '" +
                                          import.path.str() + "', which does not exist",
                                      "looked for in " + llvm::join(folders, ", ")));
}

void FileLoader::reportCycle(StringRef realPath, SourceLoc import) {
  auto first = llvm::find_if(importers_, [&](const Importer &i) { return i.path == realPath; });
  const std::string &importer = sources_.name(import.file);
  bool isItself = first + 1 == importers_.end();
  std::string message =
      "'" + importer + "' imports " +
      (isItself ? "itself"
                : "'" + sources_.name(first->import.file) + "', which imports it in turn");
  Diagnostic d = Diagnostic::error(import, std::move(message));
  for (auto i = first; i + 1 != importers_.end(); ++i)
    d.notes.push_back(Diagnostic::note(i->import, "by way of this import"));
  errors_.push_back(std::move(d));
}

} // namespace colldsl
