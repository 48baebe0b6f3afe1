/// The check of a call's arguments, as far as one rank can make it: what the MPI below would
/// refuse, and what would crash.
///
/// Other ranks cannot know of it. So a rank whose arguments are wrong counts the run as all others
/// do, and notifies them that it does not take part.
#pragma once

#include "mpi/Call.h"

#include <string>

namespace colldsl::mpi {

class ServedComm;

struct WrongArgument {
  int errorClass = MPI_SUCCESS; ///< nothing is wrong
  /// The check of the MPI below finds it before any message: the call is passed on, so that the
  /// error and its text are those of the MPI. False: that would crash there, or hang.
  bool isRefusedBelow = false;
  std::string reason;

  explicit operator bool() const { return errorClass != MPI_SUCCESS; }
};

/// Of a call that is served. Sides that this rank ignores are empty. Takes time in proportion to
/// the slots where there are lists, else none worth mentioning.
WrongArgument findWrongArgument(const ServedComm &comm, const Call &call);

/// "MPI_Neighbor_alltoallv".
std::string nameOfCall(CallKind kind);

} // namespace colldsl::mpi
