/// The groups of cases of one program.
#pragma once

#include "tests/mpi/Random.h"
#include "tests/mpi/Report.h"

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
  /// Only where it is named.
  bool onRequest = false;
};

/// What the program compares with what.
extern const char kSubject[];

const std::vector<Group> &groups();

} // namespace conformance
