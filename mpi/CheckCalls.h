/// The checking mode, COLLDSL_CHECK=1: all ranks of a communicator compare their calls before they
/// make them.
#pragma once

#include "mpi/Call.h"

#include "ir/Result.h"

namespace colldsl::mpi {

/// Collective over `comm`, by an allgather of the MPI below. An error, on all ranks alike, names
/// the first of collective, root, operator, type and bytes on which two ranks disagree, and both
/// sides. Arguments that may differ in MPI are not compared: datatypes of the same bytes, counts
/// per rank, MPI_IN_PLACE, arguments that are not significant on a rank.
Status checkAlike(MPI_Comm comm, const Call &call);

} // namespace colldsl::mpi
