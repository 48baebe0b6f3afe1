#include "driver/files/WriteFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

namespace colldsl::driver {
namespace {

namespace fs = llvm::sys::fs;
using Write = llvm::function_ref<Status(llvm::raw_ostream &)>;

Status cannotWrite(const std::string &file, const std::error_code &why) {
  std::string place = file == "-" ? "to the standard output" : "'" + file + "'";
  return Status::error("cannot write " + place + ": " + why.message());
}

Status writeTo(llvm::raw_fd_ostream &out, const std::string &file, Write write) {
  Status status = write(out);
  out.flush();
  std::error_code error = out.error();
  out.clear_error();
  return status && error ? cannotWrite(file, error) : status;
}

/// A file beside another one that it is to replace. Whatever ends this process, but for SIGKILL,
/// removes it: llvm::sys::fs::TempFile leaves it behind if the signal comes right after the file is
/// made, as it registers the file then.
class UnfinishedFile {
public:
  UnfinishedFile() = default;
  ~UnfinishedFile() {
    if (!path_.empty())
      fs::remove(path_);
    forget();
  }
  UnfinishedFile(const UnfinishedFile &) = delete;
  UnfinishedFile &operator=(const UnfinishedFile &) = delete;

  std::error_code open(const llvm::Twine &target, unsigned mode) {
    std::error_code error = std::make_error_code(std::errc::file_exists);
    for (int tries = 0; error == std::errc::file_exists && tries < kMostTries; ++tries) {
      forget();
      fs::createUniquePath(target + ".%%%%%%.tmp", path_, /*MakeAbsolute=*/false);
      llvm::sys::RemoveFileOnSignal(path_);
      error = fs::openFileForWrite(path_, descriptor_, fs::CD_CreateNew, fs::OF_None, mode);
    }
    if (error)
      forget();
    return error;
  }
  int descriptor() const { return descriptor_; }

  std::error_code replace(const llvm::Twine &target) {
    std::error_code error = fs::rename(path_, target);
    if (!error)
      forget();
    return error;
  }

private:
  static constexpr int kMostTries = 128;

  void forget() {
    if (!path_.empty())
      llvm::sys::DontRemoveFileOnSignal(path_);
    path_.clear();
  }

  llvm::SmallString<128> path_; ///< empty: there is none
  int descriptor_ = -1;
};

Status writeAside(const std::string &file, const fs::file_status &before, Write write) {
  llvm::SmallString<128> target(file);
  unsigned mode = fs::all_read | fs::all_write;
  if (fs::exists(before)) {
    mode = before.permissions();
    if (std::error_code error = fs::real_path(file, target))
      return cannotWrite(file, error);
  }
  UnfinishedFile aside;
  if (std::error_code error = aside.open(target, mode))
    return cannotWrite(file, error);
  llvm::raw_fd_ostream out(aside.descriptor(), /*shouldClose=*/true);
  Status status = writeTo(out, file, write);
  std::error_code error = status ? aside.replace(target) : std::error_code();
  return status && error ? cannotWrite(file, error) : status;
}

} // namespace

Status writeFile(const std::string &file, Write write) {
  fs::file_status before;
  std::error_code error = file == "-" ? std::error_code() : fs::status(file, before);
  if (file != "-" && (error || fs::is_regular_file(before)))
    return writeAside(file, before, write);
  llvm::raw_fd_ostream out(file, error);
  return error ? cannotWrite(file, error) : writeTo(out, file, write);
}

bool isSameFile(const std::string &a, const std::string &b) {
  fs::file_status first, second;
  bool hasFirst = !fs::status(a, first), hasSecond = !fs::status(b, second);
  if (hasFirst && hasSecond)
    return fs::is_regular_file(first) && fs::equivalent(first, second);
  if (hasFirst || hasSecond || a == "-" || b == "-")
    return false;
  llvm::SmallString<128> firstFolder(a), secondFolder(b);
  for (llvm::SmallString<128> *path : {&firstFolder, &secondFolder}) {
    if (fs::make_absolute(*path))
      return false;
    llvm::sys::path::remove_filename(*path);
    if (fs::real_path(llvm::SmallString<128>(*path), *path))
      return false;
  }
  return firstFolder == secondFolder &&
         llvm::sys::path::filename(a) == llvm::sys::path::filename(b);
}

} // namespace colldsl::driver
