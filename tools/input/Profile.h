/// The user's machine profile, as commands read it.
#pragma once

#include "topology/ProfileFile.h"

namespace colldsl::tools {

/// The profile of this machine, read once; null: there is none. A profile that does not apply is
/// reported on stderr.
const MachineProfile *ownProfile();

/// True if this is the text of a profile, valid or not.
bool looksLikeProfile(std::string_view json);

/// The costs in the profile at the path, or in the user's if the path is empty. A profile of
/// another machine is reported, and used.
Result<MachineModel> modelOfProfile(const std::string &path);

} // namespace colldsl::tools
