/// The ranks of a communicator as plans know them. Lives as long as their plans.
#pragma once

#include "runtime/Communicator.h"
#include "transports/lanes/LaneEndpoint.h"

namespace colldsl::mpi {

class Job;

/// Runs are numbered over all plans: whoever starts one sets the number before.
class PlanGroup {
public:
  PlanGroup(Job &job, lanes::Lanes &lanes, lanes::LaneGroup group, uint32_t stream,
            Topology topology)
      : job_(job), endpoint_(lanes, numbered(std::move(group), stream), nullptr),
        communicator_(endpoint_, std::move(topology)) {}

  Job &job() const { return job_; }
  Communicator &communicator() { return communicator_; }
  void numberNextRun(uint32_t number) { next_ = number; }

private:
  lanes::LaneGroup numbered(lanes::LaneGroup group, uint32_t stream) const {
    group.runs = {stream, &next_};
    return group;
  }

  Job &job_;
  uint32_t next_ = 0;
  lanes::LaneEndpoint endpoint_;
  Communicator communicator_;
};

} // namespace colldsl::mpi
