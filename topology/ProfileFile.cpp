#include "topology/ProfileFile.h"

#include "ir/Concat.h"
#include "topology/UserFiles.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

namespace colldsl {

std::string profilePath() {
  if (const char *own = std::getenv("COLLDSL_PROFILE"))
    return own;
  std::string folder = userFolder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/profile.json";
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
  return replaceFile(path, profile.toJson());
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
