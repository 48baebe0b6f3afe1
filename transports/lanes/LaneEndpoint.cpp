#include "transports/lanes/LaneEndpoint.h"
#include "transports/lanes/LaneChannels.h"
#include "transports/shm/ShmBootstrap.h"
#include "transports/shm/Sleep.h"

#include <algorithm>

namespace colldsl::lanes {
namespace {

struct OwnLanes {
  Lanes lanes;
  std::mutex mutex;
};

class WorldEndpoint : OwnLanes, public LaneEndpoint {
public:
  WorldEndpoint(shm::World &world, Rank self, LaneGroup group, const Options &options)
      : OwnLanes{{world, self, options}, {}}, LaneEndpoint(lanes, std::move(group), &mutex) {}
};

std::string saidBy(Rank rank, const std::string &what) {
  return "rank " + std::to_string(index(rank)) + ": " + what;
}

} // namespace

LaneGroup LaneGroup::ofWorld(const shm::World &world, Rank self) {
  LaneGroup group{kWorldContext, std::vector<Rank>(world.numRanks()), self};
  for (uint32_t r = 0; r < world.numRanks(); ++r)
    group.ranks[r] = Rank{r};
  return group;
}

// Each death has a witness: the left neighbour in the group, of those on this machine.
LaneEndpoint::LaneEndpoint(Lanes &lanes, LaneGroup group, std::mutex *guard)
    : lanes_(lanes), group_(std::move(group)), guard_(guard), open_(lanes.world(), lanes.rank()) {
  caps_.name = "lanes";
  caps_.maxInlineBytes = kInlineBytes;
  caps_.eagerBytes = lanes.options().eagerBytes;
  caps_.canRead = lanes.world().options().singleCopy == shm::SingleCopy::On;
  caps_.opensAlone = true;
  caps_.patience = lanes.patience();
  uint32_t next = index(group_.self);
  do
    next = (next + 1) % numRanks();
  while (onMachine(Rank{next}) == kNoRank);
  lanes_.health().watch(onMachine(Rank{next}));
}

Result<std::unique_ptr<Endpoint>> LaneEndpoint::attach(shm::World &world, Rank rank,
                                                       const Options &options) {
  return attach(world, LaneGroup::ofWorld(world, rank), options);
}

Result<std::unique_ptr<Endpoint>> LaneEndpoint::attach(shm::World &world, LaneGroup group,
                                                       const Options &options) {
  Rank rank = group.ranks[index(group.self)];
  if (Status s = shm::meet(world, rank); !s)
    return s;
  return std::unique_ptr<Endpoint>(
      std::make_unique<WorldEndpoint>(world, rank, std::move(group), options));
}

Status LaneEndpoint::checkPeers(std::span<const EdgeSpec> edges) const {
  for (const EdgeSpec &edge : edges)
    if (index(edge.peer) >= numRanks() || onMachine(edge.peer) == kNoRank)
      return Status::error("there is no rank " + std::to_string(index(edge.peer)) + " among the " +
                           std::to_string(numRanks()) + " that lanes lead to");
  return {};
}

Rank LaneEndpoint::inGroup(Rank onMachine) const {
  auto at = std::find(group_.ranks.begin(), group_.ranks.end(), onMachine);
  return at == group_.ranks.end() ? kNoRank
                                  : Rank{static_cast<uint32_t>(at - group_.ranks.begin())};
}

Result<std::unique_ptr<Channels>> LaneEndpoint::open(const OpenRequest &request) {
  auto channels = std::make_unique<LaneChannels>(*this, nextStream());
  Status own = checkPeers(request.out);
  if (own)
    own = checkPeers(request.in);
  if (own)
    own = channels->connect(request);
  if (own && request.ready)
    own = request.ready(*channels);
  if (!own) {
    channels->abort({rank(), kNoOp, saidBy(rank(), own.message()), own.kind()});
    return own;
  }
  return std::unique_ptr<Channels>(std::move(channels));
}

void LaneEndpoint::refuse(const std::string &reason) {
  uint32_t stream = nextStream();
  StreamId plan = streamId(group_.context, stream);
  auto held = hold();
  if (!numbersRuns())
    lanes_.refuse(plan);
  report(plan, numbersRuns() ? *group_.runs.next : 0,
         {rank(), kNoOp, saidBy(rank(), reason), ErrorKind::Refused});
  closed(stream);
}

void LaneEndpoint::report(StreamId plan, uint32_t run, const Fault &fault) const {
  Fault told = fault;
  told.peer = fault.peer == kNoRank ? kNoRank : onMachine(fault.peer);
  if (numbersRuns())
    lanes_.world().reportRun(plan, run, told);
  else
    lanes_.world().report(plan, told, isOfAll());
}

uint32_t LaneEndpoint::nextStream() {
  if (numbersRuns())
    return group_.runs.stream;
  auto held = hold();
  if (isOfAll())
    open_.open(opened_, [this](uint64_t bytes) {
      void *memory = lanes_.allocate(bytes);
      return memory ? *lanes_.world().offsetOf(memory, bytes) : shm::OpenPlans::kNone;
    });
  return opened_++;
}

void LaneEndpoint::closed(uint32_t stream) {
  if (isOfAll())
    open_.close(stream);
}

// A rank that sleeps looks for dead peers when it wakes.
void LaneEndpoint::sleep(SleepTicket ticket, std::chrono::nanoseconds atMost) {
  shm::World &world = lanes_.world();
  auto watch = shm::longestSleepAmong(world.numRanks(), world.options().watchInterval);
  lanes_.sleep(ticket, {-1, std::min({atMost, lanes_.options().longestSleep, watch})});
}

void LaneEndpoint::wake() { lanes_.world().wake(lanes_.rank()); }

} // namespace colldsl::lanes
