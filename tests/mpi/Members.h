/// Communicators of several kinds.
#pragma once

#include "tests/mpi/Random.h"

#include <mpi.h>
#include <string>

namespace conformance {

/// The communicator that this rank is a member of, and a duplicate for the oracle.
struct Members {
  MPI_Comm comm, oracle;
  int rank, size;
  mutable int meetings = 0; ///< on `oracle`, each of which has a tag of its own
  /// For messages.
  std::string name;

  explicit Members(MPI_Comm from, std::string kind);
  Members(Members &&other) noexcept;
  ~Members();
};

/// Collective over MPI_COMM_WORLD; every rank is a member of one. `random` has the same state on
/// all ranks. MPI_COMM_WORLD, MPI_COMM_SELF, duplicates, and parts in other orders.
Members makeMembers(Random &random);

} // namespace conformance
