/// Where the machine profile is.
#pragma once

#include "topology/MachineProfile.h"

#include <optional>

namespace colldsl {

/// $COLLDSL_PROFILE, else profile.json in $XDG_CONFIG_HOME/colldsl or in .config/colldsl of the
/// user's home. Empty: COLLDSL_PROFILE is, or there is no home; then there is no profile.
std::string profilePath();

/// Of that file, or nothing if there is none. An error names the file.
Result<std::optional<MachineProfile>> readProfile(const std::string &path);

/// Makes the folder of the file and replaces the file as a whole: until then, and if something
/// fails, what was there stays. An error names the file.
Status writeProfile(const std::string &path, const MachineProfile &profile);

/// The profile at profilePath() as far as it counts.
struct OwnProfile {
  std::optional<MachineProfile> profile; ///< of this machine
  std::string problem; ///< why the file does not count; empty: it does, or is none
};
OwnProfile readOwnProfile();

/// Ok, or which machine the profile is of, and which one this is.
Status checkMachine(const MachineProfile &profile);

} // namespace colldsl
