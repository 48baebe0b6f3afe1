/// The making of communicators of some ranks of another one.
#pragma once

#include "mpi/comm/CommRecord.h"

namespace colldsl::mpi {

class Parting {
public:
  enum class Parts {
    Any,   ///< at most one for each rank
    Grids, ///< the same, on grids
    Grid   ///< one, on a grid
  };

  /// Collective over `comm`, which need not be known: reserves contexts for parts that are about to
  /// be made of it.
  Parting(MPI_Comm comm, Parts parts);
  /// Makes the part of this rank known, which may be MPI_COMM_NULL. False, on all ranks: no
  /// contexts are reserved.
  bool keep(MPI_Comm part) const;

private:
  CommRecord::Reserved reserved_;
};

} // namespace colldsl::mpi
