/// The caller's side of requests: the receiver of messages, and the user's machine profile.
#pragma once

#include "driver/Sink.h"
#include "topology/ProfileFile.h"

namespace colldsl::driver {

/// Sources that are read in one session share its profile. One thread at a time.
class Session {
public:
  /// `sink` outlives this object.
  explicit Session(Sink &sink) : sink_(sink) {}

  Sink &sink() const { return sink_; }
  /// The profile of this machine, read once; null: there is none. A profile that does not apply is
  /// reported.
  const MachineProfile *profile();

private:
  Sink &sink_;
  std::optional<OwnProfile> own_; ///< nothing: not read yet
};

/// True if this is the text of a profile, valid or not.
bool looksLikeProfile(std::string_view json);

/// The costs in the profile at the path, or in the user's if the path is empty. A profile of
/// another machine is reported, and used.
Result<MachineModel> modelOfProfile(const std::string &path, Sink &sink);

} // namespace colldsl::driver
