#include "mpi/comm/CommRuns.h"

#include "mpi/remote/RemoteRanks.h"

namespace colldsl::mpi {

void CommRuns::skip(CallKind kind, const Status &why) {
  uint32_t run = next();
  ranks_.job().keepAnswering();
  if (isAlongTopology(kind))
    progressOf(0)->whole(run);
  else
    refuse(*plans(), run, why);
}

const std::shared_ptr<PlanGroup> &CommRuns::plans() {
  if (!plans_)
    plans_ = plansOf(contexts_.own());
  return plans_;
}

const std::shared_ptr<PlanGroup> &CommRuns::plansOfNext() {
  plans()->numberNextRun(last_ + 1);
  return plans_;
}

std::shared_ptr<PlanGroup> CommRuns::plansOf(Job::Context context) const {
  return std::make_shared<PlanGroup>(ranks_.job(), ranks_.members(),
                                     Rank{static_cast<uint32_t>(ranks_.self())}, context.number,
                                     RemoteRanks::kPlansOf | context.owner);
}

std::shared_ptr<protocol::RunProgress> CommRuns::progressOf(uint32_t stream) {
  Job::Context own = contexts_.own();
  auto make = [&] {
    return std::make_shared<protocol::RunProgress>(ranks_.job().worker().progressTable(),
                                                   Tag{own.number, stream, 0, own.owner});
  };
  if (stream != 0)
    return make();
  if (!progress_)
    progress_ = make();
  return progress_;
}

void CommRuns::leaveJob() {
  plans_.reset();
  progress_.reset();
}

void CommRuns::refuse(PlanGroup &plans, uint32_t run, const Status &why) {
  plans.numberNextRun(run);
  plans.communicator().engine().endpoint().refuse(why.message());
}

} // namespace colldsl::mpi
