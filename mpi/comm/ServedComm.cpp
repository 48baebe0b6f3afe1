#include "mpi/comm/ServedComm.h"

#include "mpi/PrintMessage.h"
#include "mpi/Settings.h"

namespace colldsl::mpi {

ServedComm::ServedComm(CommRecord &record, std::shared_ptr<const CommFacts> facts)
    : record_(record), facts_(std::move(facts)), job_(ranks().job()),
      servesNonblocking_(job_.movesRemoteInBackground() || !ranks().areSpread()),
      runs_(ranks(), contexts()), operations_(*this, CallMemory::Host),
      operationsOnDevices_(*this, CallMemory::Devices), persistentCalls_(*this), devices_(*this),
      learner_(job_.learning() ? std::make_unique<Learner>(*this) : nullptr) {
  devices_.setMayUseDevices(facts_->mayUseDevices);
  KnownComms::enter(*this);
}

ServedComm *ServedComm::adopt(Job &job, MPI_Comm comm, MPI_Info info, bool mayHaveTopology) {
  CommRecord &record = KnownComms::recordOrNew(comm);
  auto facts = std::make_shared<CommFacts>(CommRanks(job, comm),
                                           mayHaveTopology ? CommTopology(comm) : CommTopology());
  InfoHints wanted = InfoHints().changedBy(info);
  uint32_t farPeers = facts->servesNeighbors ? facts->topology.numFarPeers(facts->ranks) : 0;
  Job::Offer offer{facts->servesNeighbors, facts->servesAll, wanted, farPeers,
                   DeviceAgreement::look()};
  Job::Context first = job.agree(comm, CommContexts::kOfEach, offer);
  record.contexts().begin(first, CommContexts::kOfEach, offer.all);
  facts->servesNeighbors = offer.neighbors;
  facts->servesAll = offer.all;
  facts->mayUseDevices = offer.mayUseDevices;
  auto served = std::make_unique<ServedComm>(record, facts);
  served->hints_.want(wanted);
  served->gatherGraph(comm, facts->topology, offer.farPeers);
  served->applyHints(offer.hints);
  if (comm != MPI_COMM_SELF) // all ranks have one
    served->reportUse("new");
  return record.keep(std::move(facts), std::move(served));
}

void ServedComm::gatherGraph(MPI_Comm comm, CommTopology &topology, uint32_t farPeers) {
  if (!facts_->servesNeighbors || !CommTopology::wantsGraph(farPeers))
    return;
  Communicator *plans = [&] {
    Guard guard(job_);
    return &runs_.plans()->communicator();
  }();
  topology.gatherGraph(comm, ranks(), *plans, farPeers);
}

void ServedComm::skipRun(CallKind kind, const Status &why) {
  runs_.skip(kind, why);
  if (isAlongTopology(kind) && topology().graph())
    CommRuns::refuse(*runs_.plans(), runs_.last(), why);
}

void ServedComm::leaveJob() {
  operations_.leaveJob();
  operationsOnDevices_.leaveJob();
  devices_.leaveJob();
  learner_.reset();
  persistentCalls_.leaveJob();
  runs_.leaveJob();
}

void ServedComm::setHints(MPI_Comm comm, MPI_Info info) {
  if (!facts_->servesNeighbors)
    return;
  InfoHints agreed = hints_.agree(comm, info);
  {
    Guard guard(job_);
    applyHints(agreed);
  }
  reportUse("told anew");
}

void ServedComm::applyAgreedHints() {
  if (std::optional<InfoHints> agreed = hints_.takeAnswer()) {
    applyHints(*agreed);
    reportUse("told anew");
  }
}

void ServedComm::applyHints(InfoHints agreed) {
  hints_.set(facts_->servesNeighbors ? agreed : InfoHints());
  operations_.trustArguments(*hints_.hasStaticBuffers());
}

void ServedComm::reportUse(const char *origin) const {
  if (!Settings::all().isVerbose() || ranks().self() != 0)
    return;
  const char *word = !facts_->servesAll ? "passed on, for some rank is in another job"
                     : ranks().areSpread()
                         ? "served through shared memory in nodes, by messages between them"
                         : "served through shared memory";
  std::string hints = hints_.agreed().text();
  printMessage(
      "colldsl: %s of %d ranks, %s: %s%s%s%s\n", topology().word(), ranks().count(), origin, word,
      devices_.mayUseDevices() ? "; ranks agree on calls that may have memory of devices" : "",
      hints.empty() ? "" : "; info hints: ", hints.c_str());
}

} // namespace colldsl::mpi
