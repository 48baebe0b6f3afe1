/// One call of any kind that is judged.
#pragma once

#include "tests/mpi/Report.h"

#include <mpi.h>

namespace conformance {

class Trial {
public:
  virtual ~Trial() = default;
  /// New data in the buffers and around them; asks the oracle, which talks. What is persistent and
  /// no exchange is initialized by the first one.
  virtual void prepare() = 0;
  /// Starts the call; a blocking one is complete then, and has no request. A persistent one keeps
  /// its request.
  virtual MPI_Request start() = 0;
  /// Compares what the call did with what the oracle did. The call must be complete.
  virtual void check() = 0;
  /// This rank's buffers, and nothing else, get another place.
  virtual void moveBuffers() = 0;
  /// The call, for messages.
  virtual const std::string &label() const = 0;
};

/// Start to end of one call, alone.
inline void runOnce(Trial &trial, Report &report) {
  trial.prepare();
  MPI_Request request = trial.start();
  if (request != MPI_REQUEST_NULL)
    report.expectSuccess(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait of " + trial.label());
  trial.check();
}

} // namespace conformance
