#include "mpi/operations/PersistentCalls.h"

#include "mpi/comm/ServedComm.h"
#include "mpi/operations/CollectiveOperation.h"
#include "mpi/operations/FarExchange.h"
#include "mpi/operations/NeighborOperation.h"
#include "mpi/remote/RemoteRanks.h"
#include "runtime/MemoryReserve.h"

namespace colldsl::mpi {

MadeOperation PersistentCalls::make(const Call &call, CallMemory memory, WrongArgument &wrong) {
  Job::Context context;
  if (isAlongTopology(call.kind))
    ++streams_;
  else if (context = comm_.contexts().take(1); context.number == 0)
    return std::shared_ptr<Operation>();
  MadeOperation made = unlessMemoryIsShort(
      [&] { return makeFor(significant(call, comm_.ranks().self()), memory, context, wrong); });
  if (!made)
    refuse(call.kind, context, made.status());
  return made;
}

MadeOperation PersistentCalls::makeFor(const Call &call, CallMemory memory, Job::Context context,
                                       WrongArgument &wrong) {
  if (Status s = checkReserve(); !s)
    return s;
  if (wrong = findWrongArgument(comm_, call); wrong)
    return Status::error(wrong.reason);
  if (DeviceAgreement::look())
    if (Status s = comm_.devices().check(call); !s)
      return s;
  bool mayBeDecided = comm_.learner() && memory == CallMemory::Host;
  const TunedCollective *decided = mayBeDecided ? comm_.learner()->decided(call) : nullptr;
  if (isAlongTopology(call.kind))
    return NeighborOperation::make(comm_, call, streams_, decided);
  std::shared_ptr<PlanGroup> plans = comm_.runs().plansOf(context);
  plans->numberNextRun(1); // it fails if this rank cannot make its plan
  return CollectiveOperation::make(comm_, std::move(plans), call, {decided, true, memory});
}

void PersistentCalls::refuse(CallKind kind, const Job::Context &context, const Status &why) {
  comm_.job().keepAnswering();
  if (!isAlongTopology(kind))
    return refusePlans(context, why);
  endAllRuns(comm_.runs().progressOf(streams_));
  if (std::optional<Job::Context> relays = FarExchange::contextOfRelays(comm_, streams_))
    refusePlans(*relays, why);
}

// The first run has the reason; for later runs the others find that this rank is over with all
// runs.
void PersistentCalls::refusePlans(const Job::Context &context, const Status &why) {
  CommRuns::refuse(*comm_.runs().plansOf(context), 1, why);
  Tag tag{context.number, RemoteRanks::kPlansOf | context.owner, 0, 0};
  endAllRuns(std::make_shared<protocol::RunProgress>(comm_.job().worker().progressTable(), tag));
}

void PersistentCalls::endAllRuns(std::shared_ptr<protocol::RunProgress> progress) {
  progress->endAll();
  refused_.push_back(std::move(progress));
}

} // namespace colldsl::mpi
