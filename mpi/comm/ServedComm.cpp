#include "mpi/comm/ServedComm.h"

#include "mpi/PrintMessage.h"
#include "mpi/Settings.h"

namespace colldsl::mpi {

// Processes of another job have contexts of their own.
ServedComm::ServedComm(CommRanks ranks, CommTopology topology)
    : job_(ranks.job()), servesAll_(ranks.areOfJob()),
      servesNeighbors_(servesAll_ && topology.hasNeighbors()),
      servesNonblocking_(job_.movesRemoteInBackground() || !ranks.areSpread()),
      ranks_(std::move(ranks)), topology_(std::move(topology)), contexts_(job_),
      runs_(ranks_, contexts_), operations_(*this), persistentCalls_(*this), devices_(*this),
      learner_(job_.learning() ? std::make_unique<Learner>(*this) : nullptr) {
  KnownComms::enter(*this);
}

ServedComm *ServedComm::adopt(Job &job, MPI_Comm comm, MPI_Info info, bool mayHaveTopology) {
  auto served = std::make_shared<ServedComm>(CommRanks(job, comm),
                                             mayHaveTopology ? CommTopology(comm) : CommTopology());
  InfoHints wanted = InfoHints().changedBy(info);
  served->hints_.want(wanted);
  uint32_t farPeers = served->servesNeighbors_ ? served->topology_.numFarPeers(served->ranks_) : 0;
  Job::Offer offer{served->servesNeighbors_, served->servesAll_, wanted, farPeers,
                   DeviceAgreement::look()};
  Job::Context first = job.agree(comm, CommContexts::kOfEach, offer);
  served->contexts_.begin(first, CommContexts::kOfEach, offer.all);
  served->servesNeighbors_ = offer.neighbors;
  served->servesAll_ = offer.all;
  served->devices_.setMayUseDevices(offer.mayUseDevices);
  served->gatherGraph(comm, offer.farPeers);
  served->applyHints(offer.hints);
  if (comm != MPI_COMM_SELF) // all ranks have one
    served->reportUse("new");
  KnownComms::add(comm, served);
  return served.get();
}

void ServedComm::gatherGraph(MPI_Comm comm, uint32_t farPeers) {
  if (!servesNeighbors_ || !CommTopology::wantsGraph(farPeers))
    return;
  Communicator *plans = [&] {
    Guard guard(job_);
    return &runs_.plans()->communicator();
  }();
  topology_.gatherGraph(comm, ranks_, *plans, farPeers);
}

std::shared_ptr<ServedComm> ServedComm::duplicate() {
  Job::Context context = contexts_.take(1);
  if (context.number == 0)
    return nullptr;
  auto made = std::make_shared<ServedComm>(ranks_, topology_);
  made->contexts_.begin(context, 1, servesAll_);
  made->servesNeighbors_ = servesNeighbors_;
  made->servesAll_ = servesAll_;
  made->devices_.setMayUseDevices(devices_.mayUseDevices());
  made->isConfirmed_.store(false, std::memory_order_relaxed);
  made->reportUse("a duplicate");
  return made;
}

bool ServedComm::isConfirmedFor(MPI_Comm comm) {
  if (isConfirmed_.load(std::memory_order_relaxed))
    return true;
  bool isRight = ranks_.areThoseOf(comm);
  if (isRight)
    isConfirmed_.store(true, std::memory_order_relaxed);
  return isRight;
}

void ServedComm::leaveJob() {
  operations_.leaveJob();
  devices_.leaveJob();
  learner_.reset();
  persistentCalls_.leaveJob();
  runs_.leaveJob();
}

void ServedComm::setHints(MPI_Comm comm, MPI_Info info) {
  if (!servesNeighbors_)
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
  hints_.set(servesNeighbors_ ? agreed : InfoHints());
  operations_.trustArguments(*hints_.hasStaticBuffers());
}

void ServedComm::reportUse(const char *origin) const {
  if (!Settings::all().isVerbose() || ranks_.self() != 0)
    return;
  const char *word = !servesAll_ ? "passed on, for some rank is in another job"
                     : ranks_.areSpread()
                         ? "served through shared memory in nodes, by messages between them"
                         : "served through shared memory";
  std::string hints = hints_.agreed().text();
  printMessage("colldsl: %s of %d ranks, %s: %s%s%s%s\n", topology_.word(), ranks_.count(), origin,
               word, devices_.mayUseDevices() ? "; but not what is in memory of devices" : "",
               hints.empty() ? "" : "; info hints: ", hints.c_str());
}

} // namespace colldsl::mpi
