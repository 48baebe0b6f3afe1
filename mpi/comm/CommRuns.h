/// The runs of a communicator: their numbers, and the plans that they use.
///
/// Blocking and nonblocking calls are numbered together, alike on all ranks. A rank that cannot
/// take part in a run counts it all the same, and reports it as failed to the others.
#pragma once

#include "mpi/Collectives.h"
#include "mpi/comm/CommContexts.h"
#include "mpi/comm/CommRanks.h"
#include "mpi/comm/PlanGroup.h"

namespace colldsl::mpi {

/// Under a Guard. The ranks and contexts of the communicator outlive it.
class CommRuns {
public:
  CommRuns(const CommRanks &ranks, const CommContexts &contexts)
      : ranks_(ranks), contexts_(contexts) {}

  uint32_t next() { return ++last_; }
  uint32_t last() const { return last_; }
  /// Skips a run for which this rank has no operation: the others do not wait for this rank.
  void skip(CallKind kind, const Status &why);

  /// The plans of blocking and nonblocking calls, made at the first use.
  const std::shared_ptr<PlanGroup> &plans();
  /// Variant of plans() for a caller that makes a plan: if it fails, the next run fails on the
  /// other ranks.
  const std::shared_ptr<PlanGroup> &plansOfNext();
  /// New plans of another context, or of another stream {stream, number} of a context.
  std::shared_ptr<PlanGroup> plansOf(Job::Context context) const;

  /// The progress of runs along the topology: `stream` 0 of blocking and nonblocking calls, else of
  /// a persistent call.
  std::shared_ptr<protocol::RunProgress> progressOf(uint32_t stream);

  /// Forgets plans at the end of the job.
  void leaveJob();

  /// Makes the run of this number fail on the other ranks.
  static void refuse(PlanGroup &plans, uint32_t run, const Status &why);

private:
  const CommRanks &ranks_;
  const CommContexts &contexts_;
  uint32_t last_ = 0;
  std::shared_ptr<PlanGroup> plans_;
  std::shared_ptr<protocol::RunProgress> progress_; ///< of stream 0
};

} // namespace colldsl::mpi
