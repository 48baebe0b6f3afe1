/// The making of parts of a communicator that is served.
#pragma once

#include "mpi/comm/ServedComm.h"

namespace colldsl::mpi {

class Parting {
public:
  /// Collective over `comm`, which need not be served: reserves contexts for parts that are about
  /// to be made of it, at most one per rank.
  explicit Parting(MPI_Comm comm);
  /// Serves the part of this rank, which may be MPI_COMM_NULL, as `comm` is served. False: `comm`
  /// is not.
  bool adopt(MPI_Comm part) const;

private:
  ServedComm *whole_;
  Job::Context first_;
};

} // namespace colldsl::mpi
