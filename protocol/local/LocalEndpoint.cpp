#include "protocol/local/LocalEndpoint.h"
#include "protocol/local/LocalChannels.h"
#include "transports/shm/Sleep.h"

#include <algorithm>
#include <new>

namespace colldsl::protocol {
namespace {

TransferCaps transferCapsOf(const LocalWorker &worker, const RankGroup &group) {
  const LocalOptions &options = worker.options();
  bool canReach = worker.world().options().singleCopy == shm::SingleCopy::On;
  uint64_t singleCopyFrom = canReach ? options.singleCopyMinBytes : TransferCaps::kNever;
  TransferCaps caps;
  caps.eagerUpTo = options.fifo.longestEagerBytes();
  caps.defaultEagerUpTo = options.rendezvousThresholdBytes;
  caps.rendezvousFrom = shm::kSlotInlineBytes + 1;
  caps.readerFrom = singleCopyFrom;
  caps.writerFrom = singleCopyFrom;
  caps.sharedWriterFrom = 0;
  if (!group.numbersRuns()) {
    caps.staticFrom = singleCopyFrom;
    caps.sharedStaticFrom = caps.sharedCanaryFrom = 1;
    caps.announced = caps.staticReader = true;
  }
  caps.streamedFrom = options.fifo.slotsBytes + 1;
  return caps;
}

/// Fails the plan of a stream that this rank has taken, on all ranks.
void refuseStream(LocalEndpoint &endpoint, uint32_t stream, const std::string &reason) {
  const RankGroup &group = endpoint.group();
  StreamId plan = streamId(group.context, stream);
  auto held = endpoint.hold();
  if (!group.numbersRuns())
    endpoint.worker().discard(tagOf(plan, kAllRuns));
  endpoint.report(plan, group.numbersRuns() ? *group.runs.next : 0,
                  {endpoint.rank(), kNoOp, prefixed(endpoint.rank(), reason), ErrorKind::Refused});
  endpoint.closed(stream);
}

} // namespace

// Each death has a witness: the left neighbour in the group, among the ranks of this machine.
LocalEndpoint::LocalEndpoint(LocalWorker &worker, RankGroup group, std::mutex *guard)
    : worker_(worker), group_(std::move(group)), guard_(guard),
      open_(worker.world(), worker.rank()) {
  caps_.name = "local";
  caps_.sharesCores = worker.world().sharesCores();
  caps_.opensAlone = true;
  caps_.spinBudget = worker.spinBudget();
  refreshCaps();
  uint32_t next = index(group_.self);
  do
    next = (next + 1) % numRanks();
  while (group_.rankAt(Rank{next}) == kNoRank);
  worker_.failureDetector().watch(group_.rankAt(Rank{next}));
}

void LocalEndpoint::refreshCaps() {
  caps_.bufferedSendBytes = worker_.options().rendezvousThresholdBytes;
  caps_.transfers = transferCapsOf(worker_, group_);
}

Result<std::unique_ptr<Channels>> LocalEndpoint::open(const OpenRequest &request) {
  uint32_t stream = nextStream();
  std::unique_ptr<LocalChannels> channels(new (std::nothrow) LocalChannels(*this, stream));
  if (!channels) {
    refuseStream(*this, stream, "no memory is left for a plan");
    return Status::error(ErrorKind::NoMemory, "no memory is left for a plan");
  }
  if (Status s = channels->open(request); !s)
    return s;
  return std::unique_ptr<Channels>(std::move(channels));
}

void LocalEndpoint::refuse(const std::string &reason) { refuseStream(*this, nextStream(), reason); }

void LocalEndpoint::report(StreamId plan, uint32_t run, const Fault &fault) const {
  Fault reported = fault;
  reported.peer = fault.peer == kNoRank ? kNoRank : group_.rankAt(fault.peer);
  if (group_.numbersRuns())
    worker_.world().reportRun(plan, run, reported);
  else
    worker_.world().report(plan, reported, group_.isOfAll());
}

Status LocalEndpoint::connect(Rank peer) {
  return worker_.sendsTo(peer) ? Status() : noMemoryFor(group_.placeOf(peer));
}

// Ranks of the world are those of the machine. A rank outside the group may die.
std::optional<Fault> LocalEndpoint::findFailure(StreamId plan, uint32_t run) const {
  const shm::World &world = worker_.world();
  auto isOurs = [this](Rank rank) { return group_.placeOf(rank) != kNoRank; };
  std::optional<Fault> fault =
      group_.numbersRuns() ? world.findRunFailure(plan, run) : world.findFailure(plan);
  if (!fault)
    fault = world.findDeath(isOurs);
  if (!fault)
    fault = world.findFailureOfAll();
  if (!fault || fault->peer == kNoRank)
    return fault;
  if (!isOurs(fault->peer))
    return std::nullopt;
  Rank place = group_.placeOf(fault->peer);
  if (fault->reason == shm::reasonOfDeath(fault->peer))
    fault->reason = shm::reasonOfDeath(place);
  fault->peer = place;
  return fault;
}

uint32_t LocalEndpoint::nextStream() {
  if (group_.numbersRuns())
    return group_.runs.stream;
  auto held = hold();
  if (group_.isOfAll())
    open_.open(opened_, [this](uint64_t bytes) {
      void *memory = worker_.allocate(bytes);
      return memory ? *worker_.world().offsetOf(memory, bytes) : shm::OpenPlans::kNone;
    });
  return opened_++;
}

void LocalEndpoint::closed(uint32_t stream) {
  if (group_.isOfAll())
    open_.close(stream);
}

// A rank that sleeps looks for dead peers when it wakes.
void LocalEndpoint::sleep(WakeupEpoch epoch, std::chrono::nanoseconds atMost) {
  shm::World &world = worker_.world();
  auto watch = shm::longestSleepAmong(world.numRanks(), world.options().watchInterval);
  worker_.sleep(epoch, {-1, std::min({atMost, worker_.options().longestSleep, watch})});
}

void LocalEndpoint::wake() { worker_.world().wake(worker_.rank()); }

} // namespace colldsl::protocol
