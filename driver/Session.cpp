#include "driver/Session.h"

namespace colldsl::driver {

const MachineProfile *Session::profile() {
  if (!own_) {
    own_ = readOwnProfile();
    if (!own_->problem.empty())
      sink_.warn("the machine profile is not used: " + own_->problem);
  }
  return own_->profile ? &*own_->profile : nullptr;
}

bool looksLikeProfile(std::string_view json) {
  return json.find("\"colldsl machine profile\"") != std::string_view::npos;
}

Result<MachineModel> modelOfProfile(const std::string &path, Sink &sink) {
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
    sink.warn("'" + file + "': " + s.message());
  return (*profile)->model;
}

} // namespace colldsl::driver
