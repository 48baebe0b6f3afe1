/// The results of learning in a job (docs/tuning.md), over all its communicators, and their way
/// into the profile at the end.
#pragma once

#include "select/Trial.h"
#include "topology/MachineProfile.h"

#include <string>
#include <vector>

namespace colldsl::mpi {

class Job;

/// The results for the calls of a class.
struct LearnedRow {
  /// Has the times of the candidates that took turns with the rules' choice, the best first.
  TuningPoint point;
  bool isOver = false;   ///< false: the job ended before the decision
  bool hasBytes = false; ///< all ranks know the number: the profile can use it
  uint64_t calls = 0, trialCalls = 0;
  double communicationNs = 0, spentNs = 0; ///< summed over all ranks
};

/// The results of a job. Under a Guard.
class Learning {
public:
  /// `measured`: points of the machine profile that counts; the job learns nothing there.
  explicit Learning(std::vector<TuningPoint> measured) : measured_(std::move(measured)) {}

  /// True if the profile has measured the point: alike on all ranks.
  bool isMeasured(const TuningPoint &point) const;

  /// Adds the results of a class. Rank 0 of the communicator calls it.
  void add(LearnedRow row);

  /// Collective over MPI_COMM_WORLD, before MPI_Finalize: writes the results to the machine profile
  /// of rank 0. Prints only with COLLDSL_VERBOSE=1, and for the summary.
  void end(Job &job);

private:
  std::vector<TuningPoint> measured_;
  std::vector<LearnedRow> rows_;
};

} // namespace colldsl::mpi
