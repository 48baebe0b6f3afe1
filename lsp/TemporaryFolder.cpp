#include "lsp/TemporaryFolder.h"

#include "driver/files/StandardFiles.h"
#include "driver/files/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace colldsl::lsp {

namespace fs = llvm::sys::fs;

namespace {

constexpr const char *kPrefix = "colldsl-lsp";

/// Opens a folder of this user and locks it. -1: it belongs to another user, or another process has
/// the lock.
int lock(const std::string &path) {
  int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  bool isOwn = folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid();
  if (isOwn && flock(folder, LOCK_EX | LOCK_NB) == 0)
    return folder;
  if (folder >= 0)
    close(folder);
  return -1;
}

} // namespace

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty())
    fs::remove_directories(path_);
  if (lock_ >= 0)
    close(lock_);
}

void TemporaryFolder::removeAbandoned() {
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  std::error_code error;
  for (fs::directory_iterator it(folder, error, /*follow_symlinks=*/false), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (!name.consume_front(std::string(kPrefix) + "-"))
      continue;
    if (int locked = lock(it->path()); locked >= 0) {
      fs::remove_directories(it->path());
      close(locked);
    }
  }
}

/// Makes and locks the folder. Another server may remove it in between; then it makes the next one.
Status TemporaryFolder::make() {
  for (int tries = 0; path_.empty(); ++tries) {
    llvm::SmallString<128> path;
    if (std::error_code error = fs::createUniqueDirectory(kPrefix, path))
      return Status::error("cannot make a temporary folder: " + error.message());
    lock_ = lock(path.str().str());
    if (lock_ >= 0 && fs::exists(path))
      path_ = realPath(path);
    else if (tries == 100)
      return Status::error("cannot lock a temporary folder");
    else if (lock_ >= 0)
      close(std::exchange(lock_, -1));
  }
  return {};
}

std::string TemporaryFolder::realPath(llvm::StringRef path) {
  llvm::SmallString<128> real;
  return fs::real_path(path, real) ? path.str() : real.str().str();
}

Result<std::string> TemporaryFolder::libraryFile(llvm::StringRef name) {
  if (Status made = make(); !made)
    return made;
  std::optional<std::string_view> text = driver::standardText(name);
  if (!text)
    return Status::error("the standard library has no file '" + name.str() + "'");
  std::string path = path_ + "/" + name.str();
  if (fs::exists(path))
    return path;
  if (std::error_code error = fs::create_directories(llvm::sys::path::parent_path(path)))
    return Status::error("cannot make the folder of '" + path + "': " + error.message());
  Status written = driver::writeFile(path, [&](llvm::raw_ostream &out) {
    out << llvm::StringRef(*text);
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

bool TemporaryFolder::holds(llvm::StringRef path) const {
  return !path_.empty() && path.starts_with(path_ + "/");
}

} // namespace colldsl::lsp
