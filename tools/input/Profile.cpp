#include "tools/input/Profile.h"

#include "tools/input/ErrorMessages.h"

namespace colldsl::tools {

const MachineProfile *ownProfile() {
  static const OwnProfile own = [] {
    OwnProfile read = readOwnProfile();
    if (!read.problem.empty())
      printWarning("the machine profile is not used: " + read.problem);
    return read;
  }();
  return own.profile ? &*own.profile : nullptr;
}

bool looksLikeProfile(std::string_view json) {
  return json.find("\"colldsl machine profile\"") != std::string_view::npos;
}

Result<MachineModel> modelOfProfile(const std::string &path) {
  std::string file = path.empty() ? profilePath() : path;
  Result<std::optional<MachineProfile>> profile = readProfile(file);
  if (!profile)
    return profile.status();
  if (!*profile)
    return Status::error("there is no machine profile" + (file.empty() ? "" : " '" + file + "'") +
                         "; 'colldsl tune' makes one");
  if ((*profile)->model == MachineModel())
    return Status::error("'" + file +
                         "' has no costs: jobs wrote it; 'colldsl tune' measures them");
  if (Status s = checkMachine(**profile); !s)
    printWarning("'" + file + "': " + s.message());
  return (*profile)->model;
}

} // namespace colldsl::tools
