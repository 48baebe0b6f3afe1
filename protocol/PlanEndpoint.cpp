#include "protocol/PlanEndpoint.h"
#include "protocol/PlanChannels.h"
#include "transports/shm/ShmBootstrap.h"
#include "transports/shm/Sleep.h"

#include <algorithm>

namespace colldsl::protocol {
namespace {

struct OwnWorker {
  Worker worker;
  std::mutex mutex;
};

class WorldEndpoint : OwnWorker, public PlanEndpoint {
public:
  WorldEndpoint(shm::World &world, Rank self, RankGroup group, const Options &options)
      : OwnWorker{{world, self, options}, {}}, PlanEndpoint(worker, std::move(group), &mutex) {}
};

std::string reportedBy(Rank rank, const std::string &what) {
  return "rank " + std::to_string(index(rank)) + ": " + what;
}

} // namespace

RankGroup RankGroup::ofWorld(const shm::World &world, Rank self) {
  RankGroup group{kWorldContext, std::vector<Rank>(world.numRanks()), self};
  for (uint32_t r = 0; r < world.numRanks(); ++r)
    group.ranks[r] = Rank{r};
  return group;
}

// Each death has a witness: the left neighbour in the group, of those on this machine.
PlanEndpoint::PlanEndpoint(Worker &worker, RankGroup group, std::mutex *guard)
    : worker_(worker), group_(std::move(group)), guard_(guard),
      open_(worker.world(), worker.rank()) {
  caps_.name = "lanes";
  caps_.maxInlineBytes = shm::kSlotInlineBytes;
  caps_.eagerBytes = worker.options().eagerBytes;
  caps_.canRead = worker.world().options().singleCopy == shm::SingleCopy::On;
  caps_.opensAlone = true;
  caps_.patience = worker.spinBudget();
  uint32_t next = index(group_.self);
  do
    next = (next + 1) % numRanks();
  while (onMachine(Rank{next}) == kNoRank);
  worker_.health().watch(onMachine(Rank{next}));
}

Result<std::unique_ptr<Endpoint>> PlanEndpoint::attach(shm::World &world, Rank rank,
                                                       const Options &options) {
  return attach(world, RankGroup::ofWorld(world, rank), options);
}

Result<std::unique_ptr<Endpoint>> PlanEndpoint::attach(shm::World &world, RankGroup group,
                                                       const Options &options) {
  Rank rank = group.ranks[index(group.self)];
  if (Status s = shm::meet(world, rank); !s)
    return s;
  return std::unique_ptr<Endpoint>(
      std::make_unique<WorldEndpoint>(world, rank, std::move(group), options));
}

Status PlanEndpoint::checkPeers(std::span<const EdgeSpec> edges) const {
  for (const EdgeSpec &edge : edges)
    if (index(edge.peer) >= numRanks() || onMachine(edge.peer) == kNoRank)
      return Status::error("there is no rank " + std::to_string(index(edge.peer)) + " among the " +
                           std::to_string(numRanks()) + " that lanes lead to");
  return {};
}

Rank PlanEndpoint::inGroup(Rank onMachine) const {
  auto at = std::find(group_.ranks.begin(), group_.ranks.end(), onMachine);
  return at == group_.ranks.end() ? kNoRank
                                  : Rank{static_cast<uint32_t>(at - group_.ranks.begin())};
}

Result<std::unique_ptr<Channels>> PlanEndpoint::open(const OpenRequest &request) {
  auto channels = std::make_unique<PlanChannels>(*this, nextStream());
  Status own = checkPeers(request.out);
  if (own)
    own = checkPeers(request.in);
  if (own)
    own = channels->connect(request);
  if (own && request.ready)
    own = request.ready(*channels);
  if (!own) {
    channels->abort({rank(), kNoOp, reportedBy(rank(), own.message()), own.kind()});
    return own;
  }
  return std::unique_ptr<Channels>(std::move(channels));
}

void PlanEndpoint::refuse(const std::string &reason) {
  uint32_t stream = nextStream();
  StreamId plan = streamId(group_.context, stream);
  auto held = hold();
  if (!numbersRuns())
    worker_.discard(plan);
  report(plan, numbersRuns() ? *group_.runs.next : 0,
         {rank(), kNoOp, reportedBy(rank(), reason), ErrorKind::Refused});
  closed(stream);
}

void PlanEndpoint::report(StreamId plan, uint32_t run, const Fault &fault) const {
  Fault told = fault;
  told.peer = fault.peer == kNoRank ? kNoRank : onMachine(fault.peer);
  if (numbersRuns())
    worker_.world().reportRun(plan, run, told);
  else
    worker_.world().report(plan, told, isOfAll());
}

uint32_t PlanEndpoint::nextStream() {
  if (numbersRuns())
    return group_.runs.stream;
  auto held = hold();
  if (isOfAll())
    open_.open(opened_, [this](uint64_t bytes) {
      void *memory = worker_.allocate(bytes);
      return memory ? *worker_.world().offsetOf(memory, bytes) : shm::OpenPlans::kNone;
    });
  return opened_++;
}

void PlanEndpoint::closed(uint32_t stream) {
  if (isOfAll())
    open_.close(stream);
}

// A rank that sleeps looks for dead peers when it wakes.
void PlanEndpoint::sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) {
  shm::World &world = worker_.world();
  auto watch = shm::longestSleepAmong(world.numRanks(), world.options().watchInterval);
  worker_.sleep(ticket, {-1, std::min({atMost, worker_.options().longestSleep, watch})});
}

void PlanEndpoint::wake() { worker_.world().wake(worker_.rank()); }

} // namespace colldsl::protocol
