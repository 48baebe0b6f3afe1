/// The check of a call's arguments, as far as one rank can make it: it finds arguments that the MPI
/// below would refuse, and arguments that would crash.
///
/// Other ranks cannot know the outcome. So a rank with wrong arguments counts the run as all others
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

/// Checks a call that is served. Sides that this rank ignores are empty. Takes time in proportion
/// to the slots if there are lists, else almost none.
WrongArgument findWrongArgument(const ServedComm &comm, const Call &call);

/// The call without arguments that are not significant on this rank, away from the root or beside
/// MPI_IN_PLACE: these may have any value.
Call significant(const Call &call, int rank);

} // namespace colldsl::mpi
