/// The checking mode, COLLDSL_CHECK=1: all ranks of a communicator compare what they call before
/// they call it.
#pragma once

#include "mpi/Call.h"

#include "ir/Result.h"

namespace colldsl::mpi {

/// Collective over `comm`, by an allgather of the MPI below. An error, on all ranks alike, names
/// the first of collective, root, operator, type and bytes that two ranks disagree on, and both
/// sides. What MPI lets differ is not compared: datatypes of the same bytes, counts per rank,
/// MPI_IN_PLACE, arguments that mean nothing on a rank.
Status checkAlike(MPI_Comm comm, const Call &call);

} // namespace colldsl::mpi
