#include "tools/lsp/TemporaryFolder.h"

#include "stdlib/StdlibFiles.h"
#include "tools/output/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace colldsl::lsp {

namespace fs = llvm::sys::fs;

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty())
    fs::remove_directories(path_);
}

Status TemporaryFolder::make() {
  if (!path_.empty())
    return {};
  llvm::SmallString<128> path;
  if (std::error_code error = fs::createUniqueDirectory("colldsl-lsp", path))
    return Status::error("cannot make a temporary folder: " + error.message());
  path_ = realPath(path);
  return {};
}

std::string TemporaryFolder::realPath(llvm::StringRef path) {
  llvm::SmallString<128> real;
  return fs::real_path(path, real) ? path.str() : real.str().str();
}

Result<std::string> TemporaryFolder::libraryFile(llvm::StringRef name) {
  if (Status made = make(); !made)
    return made;
  auto files = stdlibFiles();
  auto file =
      llvm::find_if(files, [&](const StdlibFile &f) { return name == llvm::StringRef(f.name); });
  if (file == files.end())
    return Status::error("the standard library has no file '" + name.str() + "'");
  std::string path = path_ + "/" + name.str();
  if (fs::exists(path))
    return path;
  if (std::error_code error = fs::create_directories(llvm::sys::path::parent_path(path)))
    return Status::error("cannot make the folder of '" + path + "': " + error.message());
  Status written = tools::writeFile(path, [&](llvm::raw_ostream &out) {
    out << llvm::StringRef(file->text);
    return Status();
  });
  if (!written)
    return written;
  if (std::error_code error = fs::setPermissions(path, fs::all_read))
    return Status::error("cannot protect '" + path + "': " + error.message());
  return path;
}

Result<std::string> TemporaryFolder::page(llvm::StringRef name) {
  if (Status made = make(); !made)
    return made;
  return path_ + "/" + name.str() + ".html";
}

/// They come first in each compilation.
bool TemporaryFolder::isLibrary(size_t number, llvm::StringRef name) {
  auto files = stdlibFiles();
  return number < files.size() && name == llvm::StringRef(files[number].name);
}

bool TemporaryFolder::holds(llvm::StringRef path) const {
  return !path_.empty() && path.starts_with(path_ + "/");
}

} // namespace colldsl::lsp
