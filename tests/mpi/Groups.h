/// The groups of cases.
#pragma once

#include "tests/mpi/Exchange.h"
#include "tests/mpi/Flight.h"

namespace conformance {

/// What one case needs. `shared` has the same state on all ranks, `local` has not.
struct Case {
  Random shared, local;
  bool skipKnownFaults;
  Report &report;
};

struct Group {
  const char *name, *summary;
  /// Collective over MPI_COMM_WORLD. False: left out, because the MPI alone gets it wrong.
  bool (*run)(Case &);
};

const std::vector<Group> &groups();

} // namespace conformance
