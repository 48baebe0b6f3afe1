#include "topology/UserFiles.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace colldsl {
namespace {

namespace fs = std::filesystem;

Status cannotWrite(const std::string &path, int error) {
  return Status::error(concat("cannot write '", path, "': ", std::strerror(error)));
}

/// A temporary file beside its target. It replaces the target once it is complete; else it is
/// removed.
class FileAside {
public:
  explicit FileAside(std::string target)
      : target_(std::move(target)), path_(concat(target_, ".", getpid(), ".tmp")),
        descriptor_(
            open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)) {}
  ~FileAside() {
    if (descriptor_ < 0)
      return;
    close(descriptor_);
    if (!isKept_)
      unlink(path_.c_str());
  }
  FileAside(const FileAside &) = delete;
  FileAside &operator=(const FileAside &) = delete;

  bool write(std::string_view text) {
    while (descriptor_ >= 0 && !text.empty()) {
      ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR)
        return false;
      text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
    }
    return descriptor_ >= 0;
  }
  bool replaceTarget(std::optional<mode_t> mode) {
    bool hasMode = !mode || fchmod(descriptor_, *mode) == 0;
    isKept_ = hasMode && std::rename(path_.c_str(), target_.c_str()) == 0;
    return isKept_;
  }

private:
  std::string target_, path_;
  int descriptor_;
  bool isKept_ = false;
};

} // namespace

std::string userFolder(const char *variable, const char *underHome) {
  const char *folder = std::getenv(variable), *home = std::getenv("HOME");
  if (folder && *folder == '/')
    return concat(folder, "/colldsl");
  return home && *home ? concat(home, "/", underHome, "/colldsl") : "";
}

Status replaceFile(const std::string &path, std::string_view text) {
  std::error_code error;
  fs::path target(path);
  if (target.has_parent_path() && !fs::create_directories(target.parent_path(), error) && error)
    return Status::error(
        concat("cannot make the folder '", target.parent_path().string(), "': ", error.message()));
  struct stat info {};
  bool isThere = stat(path.c_str(), &info) == 0;
  if (isThere && !S_ISREG(info.st_mode))
    return Status::error(concat("'", path, "' is not an ordinary file"));
  if (isThere) // the file itself, where this is a link to it
    if (target = fs::canonical(path, error); error)
      return Status::error(concat("cannot write '", path, "': ", error.message()));
  FileAside aside(target.string());
  std::optional<mode_t> mode; // of a new file as the process makes them
  if (isThere)
    mode = info.st_mode & 07777;
  bool isWritten = aside.write(text) && aside.replaceTarget(mode);
  return isWritten ? Status() : cannotWrite(path, errno);
}

} // namespace colldsl
