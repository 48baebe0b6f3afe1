/// The user's machine profile, as commands read it.
#pragma once

#include "topology/ProfileFile.h"

namespace colldsl::tools {

/// The one that counts on this machine, read once; null: there is none. One that does not count is
/// reported on stderr.
const MachineProfile *ownProfile();

/// Whether this is the text of a profile, whatever is wrong with it.
bool looksLikeProfile(std::string_view json);

/// The costs that the profile of that name has, or the user's for an empty name. One of another
/// machine is reported, and taken.
Result<MachineModel> modelOfProfile(const std::string &path);

} // namespace colldsl::tools
