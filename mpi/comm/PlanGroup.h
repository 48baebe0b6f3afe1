/// The ranks of a communicator as plans see them. Lives as long as the plans.
#pragma once

#include "protocol/HybridEndpoint.h"
#include "protocol/local/LocalEndpoint.h"
#include "protocol/remote/RemoteEndpoint.h"
#include "runtime/job/Communicator.h"

#include <optional>

namespace colldsl::mpi {

class Job;

/// Runs are numbered over all plans: an operation sets the number before it starts a run, and
/// reports the end of the run.
class PlanGroup {
public:
  /// `members`: ranks of MPI_COMM_WORLD, in the order of the communicator. `stream`: of the
  /// context, alike on all of them.
  PlanGroup(Job &job, std::shared_ptr<const std::vector<Rank>> members, Rank self, uint32_t context,
            uint32_t stream);

  Job &job() const { return job_; }
  Communicator &communicator() { return communicator_; }
  void numberNextRun(uint32_t number) { next_ = number; }
  void begin(uint32_t number) {
    numberNextRun(number);
    progress_.begin(number);
  }
  void end(uint32_t number) { progress_.end(number); }

private:
  Endpoint &connect(const std::vector<Rank> &members, uint32_t context, uint32_t stream);

  Job &job_;
  uint32_t next_ = 0;
  protocol::RunProgress progress_;
  protocol::LocalEndpoint local_;
  std::optional<protocol::RemoteEndpoint> remote_; ///< if some rank is on another node
  std::optional<protocol::HybridEndpoint> hybrid_; ///< both, if there is a remote one
  Communicator communicator_;
};

} // namespace colldsl::mpi
