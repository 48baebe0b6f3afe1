/// The file of the machine profile.
#pragma once

#include "topology/MachineProfile.h"

#include <optional>

namespace colldsl {

/// $COLLDSL_PROFILE, else profile.json in $XDG_CONFIG_HOME/colldsl or in .config/colldsl of the
/// user's home. Empty, which means no profile, if COLLDSL_PROFILE is empty or there is no home.
std::string profilePath();

/// The profile of that file, or nothing if there is no file. An error names the file.
Result<std::optional<MachineProfile>> readProfile(const std::string &path);

/// Writes a profile by replaceFile().
Status writeProfile(const std::string &path, const MachineProfile &profile);

/// The profile at profilePath() as far as it counts.
struct OwnProfile {
  std::optional<MachineProfile> profile; ///< of this machine
  std::string problem; ///< why the file does not count; empty: it does, or is none
};
OwnProfile readOwnProfile();

/// Ok if the profile is of this machine; else an error that names both machines.
Status checkMachine(const MachineProfile &profile);

} // namespace colldsl
