#include "mpi/remote/RemoteRanks.h"

#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "mpi/remote/MpiNodes.h"
#include "mpi/remote/MpiTransport.h"
#include "wireup/Environment.h"
#include "wireup/OobBootstrap.h"

#include <algorithm>

namespace colldsl::mpi {
namespace {

// Up to this size an exchange of small messages takes one way each.
constexpr uint32_t kLongestEagerBytes = 40 << 10;
constexpr uint32_t kWindowBytes = 1 << 20;
// A message in fragments keeps a slow network busy while this rank works.
constexpr uint32_t kFragments = 32;

bool mayHaveSeveralNodes() {
  std::optional<NumbersOfRanks> numbers = numbersOfLauncher();
  return setting("COLLDSL_RANKS_PER_NODE") || (numbers && numbers->all != numbers->onHost);
}

} // namespace

// Loads the network's library already here if it is needed later.
bool RemoteRanks::mayBeOverMpi() {
  if (!mayHaveSeveralNodes())
    return false;
  const char *given = setting("COLLDSL_NETWORK");
  if (given && given == kMpiBelow)
    return true;
  Result<Network> network = given ? Network::fromEnvironment() : Network::unnamedForMpi();
  return !(network ? *network : Network::unnamedForMpi()).isHere();
}

Result<std::unique_ptr<RemoteRanks>>
RemoteRanks::overNetwork(MPI_Comm world, const Network &given, WakeupPreference wakeup,
                         std::shared_ptr<const protocol::ProgressTable> runs) {
  Oob oob = oobOf(world);
  Result<OnNetwork> network = openNetwork(oob, given, wakeup);
  if (!network)
    return network.status();
  std::unique_ptr<RemoteRanks> ranks(new RemoteRanks(std::move(runs), oob.numRanks));
  network->options.sendsEarlyRtr = true;
  OobBootstrap bootstrap(oob);
  if (Status s = ranks->open(Rank{oob.rank}, network.take()); !s) {
    network::exchangeFailure(bootstrap, oob.numRanks, s.message()); // the others wait
    return s;
  }
  Result<network::Directory> directory =
      network::exchangeAddresses(bootstrap, ranks->worker_->rankAddress(), oob.numRanks);
  if (!directory)
    return directory.status();
  if (Status s = ranks->worker_->start(directory.take()); !s)
    return s;
  return ranks;
}

// The communicator keeps other processes away, and its ranks are the only addresses needed.
std::unique_ptr<RemoteRanks>
RemoteRanks::overMpi(MPI_Comm world, std::shared_ptr<const protocol::ProgressTable> runs) {
  Oob oob = oobOf(world);
  std::unique_ptr<RemoteRanks> ranks(new RemoteRanks(std::move(runs), oob.numRanks));
  (void)ranks->open(Rank{oob.rank}, {std::make_unique<MpiTransport>(world), {}});
  Status started = ranks->worker_->start([](Rank) { return network::RankAddress(); });
  if (!started)
    ranks->worker_->reportAll({Rank{oob.rank}, kNoOp, started.message(), started.kind()});
  return ranks;
}

Status RemoteRanks::open(Rank self, OnNetwork network) {
  network::Options &options = network.options;
  options.longestEagerBytes =
      std::min(kLongestEagerBytes, network.transport->capabilities().frameBytes -
                                       static_cast<uint32_t>(sizeof(network::Header)));
  options.rmaThresholdBytes = options.longestEagerBytes;
  options.windowBytes = kWindowBytes;
  options.fragments = kFragments;
  options.flushes = options.cancelsWithoutTimeout = true;
  options.lingerAfterFailure = {};
  auto worker = protocol::RemoteWorker::make(self, numRanks_, options, std::move(network.transport),
                                             nullptr, this);
  if (!worker)
    return worker.status();
  worker_ = worker.take();
  return {};
}

// Once everything failed no operation waits for messages any more.
bool RemoteRanks::progress() {
  bool moved = !worker_->failureOfAll() && worker_->progress();
  if (!moved)
    worker_->checkPeers();
  return moved;
}

std::optional<protocol::Wakeup> RemoteRanks::wakeup() {
  std::optional<network::Transport::Wait> wait = worker_->wakeup();
  if (!wait)
    return std::nullopt;
  return protocol::Wakeup{wait->file, wait->atMost};
}

Status RemoteRanks::status() const {
  const std::optional<Fault> &fault = worker_->failureOfAll();
  return fault ? Status::error(fault->kind, fault->reason) : Status();
}

void RemoteRanks::leave() {
  worker_->leaveTogether();
  while (status() && !worker_->isIdle())
    progress();
  MPI_Request all = MPI_REQUEST_NULL;
  int isThere = !status() || real::Ibarrier(MPI_COMM_WORLD, &all) != MPI_SUCCESS;
  while (!isThere) {
    progress();
    if (real::Test(&all, &isThere, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
  }
}

std::optional<uint32_t> RemoteRanks::streamOf(uint32_t stream, uint32_t owner, uint32_t numRanks) {
  uint64_t number = uint64_t{stream} * numRanks + owner;
  return number < kPlansOf ? std::optional(static_cast<uint32_t>(number)) : std::nullopt;
}

bool RemoteRanks::isOverHere(const Tag &tag) const {
  if ((tag.stream & kPlansOf) != 0)
    return runs_->isOverHere({tag.context, tag.stream, tag.run, 0});
  return runs_->isOverHere({tag.context, tag.stream / numRanks_, tag.run, tag.stream % numRanks_});
}

} // namespace colldsl::mpi
