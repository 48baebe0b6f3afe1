/// What a job learns of its collectives (docs/tuning.md): all of its communicators together, and
/// what becomes of it at the end.
#pragma once

#include "runtime/Trials.h"
#include "topology/MachineProfile.h"

#include <string>
#include <vector>

namespace colldsl::mpi {

class Job;

/// What was learned of the calls of a class.
struct LearnedRow {
  /// With the times of what took turns with the rules' choice, the best first.
  TuningPoint point;
  bool isOver = false;   ///< else the job ended before
  bool hasBytes = false; ///< its ranks know how many there are: the profile can use it
  uint64_t calls = 0, trialCalls = 0;
  double communicationNs = 0, spentNs = 0; ///< of all its ranks
};

/// Of a job. Under a Guard.
class Learning {
public:
  /// `measured`: points of the machine profile that counts; there is nothing to learn there.
  explicit Learning(std::vector<TuningPoint> measured) : measured_(std::move(measured)) {}

  /// Whether the profile knows better: alike on all ranks.
  bool isMeasured(const TuningPoint &point) const;

  /// Of a class of which this rank is the first of the communicator.
  void add(LearnedRow row);

  /// Collective over MPI_COMM_WORLD, before MPI_Finalize: what was learned goes to the machine
  /// profile of rank 0. Nothing is printed but by COLLDSL_VERBOSE=1, and for the summary.
  void end(Job &job);

private:
  std::vector<TuningPoint> measured_;
  std::vector<LearnedRow> rows_;
};

} // namespace colldsl::mpi
