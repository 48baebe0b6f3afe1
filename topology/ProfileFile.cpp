#include "topology/ProfileFile.h"

#include "ir/Concat.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
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

std::string profilePath() {
  if (const char *own = std::getenv("COLLDSL_PROFILE"))
    return own;
  const char *folder = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
  if (folder && *folder == '/') // others are to be ignored, says the specification
    return concat(folder, "/colldsl/profile.json");
  return home && *home ? concat(home, "/.config/colldsl/profile.json") : "";
}

Result<std::optional<MachineProfile>> readProfile(const std::string &path) {
  struct stat info {};
  if (path.empty() || (stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)))
    return std::optional<MachineProfile>();
  if (S_ISDIR(info.st_mode) || (info.st_mode != 0 && !S_ISREG(info.st_mode)))
    return Status::error(concat("'", path, "' is not an ordinary file"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file)
    text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad())
    return Status::error(concat("cannot read '", path, "': ", std::strerror(errno ? errno : EIO)));
  Result<MachineProfile> profile = MachineProfile::parse(text);
  if (!profile)
    return Status::error(concat("'", path, "': ", profile.message()));
  return std::optional(profile.take());
}

Status writeProfile(const std::string &path, const MachineProfile &profile) {
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
  bool isWritten = aside.write(profile.toJson()) && aside.replaceTarget(mode);
  return isWritten ? Status() : cannotWrite(path, errno);
}

Status checkMachine(const MachineProfile &profile) {
  Result<MachineFingerprint> here = fingerprintOfThisMachine();
  if (!here)
    return here.status();
  if (*here == profile.machine)
    return {};
  return Status::error(concat("it is of another machine (", profile.machine.words(), "; this is ",
                              here->words(), ")"));
}

OwnProfile readOwnProfile() {
  std::string path = profilePath();
  Result<std::optional<MachineProfile>> profile = readProfile(path);
  if (!profile)
    return {{}, profile.message()};
  if (!*profile)
    return {};
  if (Status s = checkMachine(**profile); !s)
    return {{}, concat("'", path, "': ", s.message())};
  return {profile.take(), ""};
}

} // namespace colldsl
