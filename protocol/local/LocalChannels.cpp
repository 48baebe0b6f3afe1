#include "protocol/local/LocalChannels.h"

#include <algorithm>

namespace colldsl::protocol {
namespace {

/// The count and a hash of an edge's static messages, of their places and of the ends that copy
/// them: alike at both ends of the edge.
template <typename Ends> shm::StaticRtrs countStatic(const Ends &ends) {
  shm::StaticRtrs found = {0, 0xcbf29ce484222325u, 0};
  for (size_t m = 0; m < ends.size(); ++m)
    if (ends[m].payload.fixed) {
      ++found.count;
      found.hash = (found.hash ^ (2 * m + 1 + ends[m].payload.fixed->isPut)) * 0x100000001b3u;
    }
  return found;
}

template <typename Ends> void assign(const Ends &ends, shm::StaticRtr *rtrs) {
  for (auto &end : ends)
    if (end.payload.fixed)
      end.payload.fixed->rtr = rtrs++;
}

/// True if a message comes from each peer to which one goes.
bool isAnswered(const OpenRequest &request) {
  auto peersOf = [](std::span<const EdgeSpec> edges) {
    std::vector<Rank> peers;
    for (const EdgeSpec &edge : edges)
      peers.push_back(edge.peer);
    std::sort(peers.begin(), peers.end());
    return peers;
  };
  std::vector<Rank> from = peersOf(request.in), to = peersOf(request.out);
  return std::includes(from.begin(), from.end(), to.begin(), to.end());
}

// Reading how far a peer is takes its cache line away from it.
constexpr uint32_t kChecksPerProbe = 16;
// Room is made for the messages of peers that are so many runs ahead, the run at hand included.
constexpr uint32_t kRunsAhead = 2;

} // namespace

LocalChannels::~LocalChannels() {
  auto held = endpoint_.hold();
  if (reservedBytes_)
    for (size_t e = 0; e < in_.receives.size(); ++e)
      in_.receives[e]->unreserve(kRunsAhead * in_.numMessages(e));
}

Status LocalChannels::connect(const OpenRequest &request) {
  if (Status s = PlanChannels::connect(request); !s)
    return s;
  isAnswered_ = isAnswered(request);
  auto held = endpoint_.hold();
  for (size_t e = 0; e < in_.receives.size(); ++e)
    nameStaticRtrs(e);
  for (size_t e = 0; e < out_.sends.size(); ++e)
    if (countStatic(endsOf(out_, e)).count != 0)
      unnamed_.push_back(e);
  return {};
}

// Names the RTRs of an edge's static messages to the sender. Without memory for them the messages
// are not static.
void LocalChannels::nameStaticRtrs(size_t edge) {
  std::span<End> ends = endsOf(in_, edge);
  shm::StaticRtrs rtrs = countStatic(ends);
  if (rtrs.count == 0)
    return;
  LocalWorker &worker = endpoint_.worker();
  LocalSends *back = worker.sendsTo(endpoint_.group().rankAt(ends.front().peer));
  shm::StaticRtr *made =
      back ? in_.receives[edge]->wire().makeStaticRtrs(plan_, rtrs.count) : nullptr;
  assign(ends, made);
  if (!made) {
    for (End &end : ends)
      end.payload.fixed = nullptr;
    return;
  }
  rtrs.offset = *worker.world().offsetOf(made, rtrs.count * sizeof(shm::StaticRtr));
  back->wire().nameStaticRtrs(endpoint_.group().context, stream_, rtrs);
}

// False: the receiver has not named the RTRs yet. If it lists other messages, none is static.
bool LocalChannels::findStaticRtrs(size_t edge) {
  std::span<End> ends = endsOf(out_, edge);
  Rank peer = endpoint_.group().rankAt(ends.front().peer);
  const shm::StaticRtrs *named = endpoint_.worker().receivesFrom(peer).staticRtrsOf(plan_);
  if (!named)
    return false;
  shm::StaticRtrs own = countStatic(ends);
  if (own.count == named->count && own.hash == named->hash)
    assign(ends, reinterpret_cast<shm::StaticRtr *>(endpoint_.worker().world().at(named->offset)));
  return true;
}

void LocalChannels::start() {
  PlanChannels::start();
  if (unnamed_.empty())
    return;
  auto held = endpoint_.hold();
  std::erase_if(unnamed_, [this](size_t edge) { return findStaticRtrs(edge); });
}

Status LocalChannels::prepare(const Work &work) {
  counter_.copyKiB = static_cast<uint32_t>(std::min<uint64_t>(work.movedBytes >> 10, UINT32_MAX));
  counter_.sendsOnly = in_.ends.empty();
  counter_.exchanges = isAnswered_ && !work.combines;
  // A group that numbers the runs has many plans, and early messages may allocate.
  if (numbersRuns() || (reservedBytes_ && work.maxBytes <= *reservedBytes_))
    return {};
  auto held = endpoint_.hold();
  for (size_t e = 0; e < in_.receives.size(); ++e)
    in_.receives[e]->reserve(reservedBytes_ ? 0 : kRunsAhead * in_.numMessages(e), work.maxBytes);
  const LocalOptions &options = endpoint_.worker().options();
  uint64_t longestEager = options.rendezvousThresholdBytes;
  if (counter_.exchanges)
    longestEager = std::min(longestEager, std::max<uint64_t>(options.singleCopyMinBytes, 1) - 1);
  if (work.maxBytes > longestEager)
    for (size_t e = 0; e < out_.sends.size(); ++e)
      out_.sends[e]->reserve(std::min(out_.numMessages(e), shm::kIdsAtOnce));
  reservedBytes_ = work.maxBytes;
  return {};
}

bool LocalChannels::check() {
  if (failed())
    return false;
  endpoint_.worker().failureDetector().poll();
  std::optional<Fault> fault = findFailure();
  std::optional<Fault> deserted = fault ? std::nullopt : findDeserted();
  if (deserted)
    fault = findFailure(); // the reason why it left is reported before
  if (fault)
    fail(std::move(*fault));
  else if (deserted) // others wait for us who do not know that peer
    abort(*deserted);
  return !failed();
}

bool LocalChannels::isGone(Rank peer) {
  LocalWorker &worker = endpoint_.worker();
  Rank rank = endpoint_.group().rankAt(peer);
  return worker.receivesFrom(rank).hasClosed(plan_) || worker.world().hasLeft(rank);
}

Rank LocalChannels::findGone() {
  auto held = endpoint_.hold();
  endpoint_.worker().progress();
  auto gone =
      std::find_if(peers_.begin(), peers_.end(), [this](Rank peer) { return isGone(peer); });
  return gone == peers_.end() ? kNoRank : *gone;
}

// Finds a peer that closed the plan, left, or is over with the run, while this rank still needs it.
// The peer sent all its messages before that, so this rank looks once more.
std::optional<Fault> LocalChannels::findDeserted() {
  auto held = endpoint_.hold();
  LocalWorker &worker = endpoint_.worker();
  bool probes = numbersRuns() && ++checks_ % kChecksPerProbe == 0;
  for (Rank peer : peers_) {
    Rank rank = endpoint_.group().rankAt(peer);
    bool isOver =
        probes && findOpen(peer) && worker.progressTable()->isOver(rank, tagOf(plan_, run_));
    if (!(isOver || isGone(peer)) || !findOpen(peer))
      continue;
    worker.progress();
    takeCompleted();
    const End *end = findOpen(peer);
    if (end && isOver)
      return endedWithout(peer, OpId{end->owner}, end->payload);
    if (end)
      return Fault{peer, OpId{end->owner},
                   "rank " + std::to_string(index(peer)) + " has closed the plan"};
  }
  return std::nullopt;
}

} // namespace colldsl::protocol
